package store

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

// A claim id is a UUID of version 8 (RFC 9562 section 5.8): its first 48 bits
// are the task's id, the rest is random. So a claim is found through the
// task's primary key, and claiming writes no index of its own. To callers it
// is opaque.

// claimTail returns the random part of a new claim id, as text that SQL puts
// behind the task's id: "-8xxx-yxxx-xxxxxxxxxxxx".
func claimTail() string {
	u := uuid.New()
	u[6] = u[6]&0x0f | 0x80
	return u.String()[13:]
}

// newClaimID is the claim id that SQL makes of a task id and a tail.
const newClaimID = `(left(lpad(to_hex(%[1]s), 12, '0'), 8) || '-' || right(lpad(to_hex(%[1]s), 12, '0'), 4) || %[2]s)::uuid`

// claimSQL fills newClaimID with two SQL expressions.
func claimSQL(taskID, tail string) string { return fmt.Sprintf(newClaimID, taskID, tail) }

// taskOfClaim returns the task that a claim id belongs to, false when the id
// is none of ours.
func taskOfClaim(id string) (int64, bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 || u[6]>>4 != 8 {
		return 0, false
	}
	var b [8]byte
	copy(b[2:], u[:6])
	return int64(binary.BigEndian.Uint64(b[:])), true //nolint:gosec // 48 bits fit
}
