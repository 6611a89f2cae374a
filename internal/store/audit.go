package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// audit notes a privileged act inside the transaction that performs it. The
// actor is nil for the command line. detail may hold ids, names and choices,
// never secrets.
func audit(ctx context.Context, q querier, orgID int64, actor *int64, action, object string, detail any) error {
	if detail == nil {
		detail = struct{}{}
	}
	raw, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("encode audit detail: %w", err)
	}
	_, err = q.Exec(ctx, `
		INSERT INTO audit_log (org_id, actor, action, object, detail)
		VALUES ($1, $2, $3, $4, $5)`, orgID, actor, action, object, raw)
	if err != nil {
		return fmt.Errorf("write audit row: %w", err)
	}
	return nil
}

// person is the actor of an audit row: nil for 0, the command line.
func person(userID int64) *int64 {
	if userID == 0 {
		return nil
	}
	return &userID
}

// object names what an audit row is about: "key/7".
func object(kind string, id int64) string { return kind + "/" + strconv.FormatInt(id, 10) }
