package store

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
)

// Who did most of what waits under four eyes asks every few seconds how much there is for
// them, and comes by all that is theirs. One look goes by walkFar nodes at most, and the
// next one goes on from there, to the queue's end: so none of them costs much, and what is
// behind is shown a few looks later.
const (
	walkFar = 5000
	// walksKept bounds the memory; who is forgotten begins at the head of the queue.
	walksKept = 10_000
)

// personalQueue is a queue as it is for one person.
type personalQueue struct {
	queueName

	userID int64
}

// queueWalks know where people's last looks ended. They are safe for everybody at once.
type queueWalks = lru.Cache[personalQueue, queuePosition]

func newQueueWalks() *queueWalks {
	w, err := lru.New[personalQueue, queuePosition](walksKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return w
}

// anyFreeSQL walks the queue from a place on ($5, $6), in the order of service. It returns
// a node for user $3 when it comes by one, otherwise where it ended, and nothing at the
// queue's end.
var anyFreeSQL = fmt.Sprintf(`WITH walk AS MATERIALIZED (SELECT n.priority, n.task_id, n.key, n.four_eyes FROM task_nodes n
        WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $4 AND n.status = 'available' AND n.reserved_for IS NULL
            AND (n.priority, n.task_id) >= ($5::smallint, $6::bigint)
        ORDER BY n.priority, n.task_id LIMIT %d
), free AS MATERIALIZED (SELECT n.priority, n.task_id FROM walk n
        WHERE `+fmt.Sprintf(notHeldSQL, "$1")+` AND `+notTheirsSQL+` AND `+notSkippedSQL+` LIMIT 1
)
SELECT true, priority, task_id FROM free
UNION ALL (SELECT false, priority, task_id FROM walk WHERE NOT EXISTS (SELECT FROM free) OFFSET %d)`, walkFar, walkFar-1)

// anyFree is 1 when the person could claim something of a queue behind what was
// counted, as far as this look goes, otherwise 0.
func (s *Store) anyFree(ctx context.Context, userID int64, q Queue) (int, error) {
	name := personalQueue{queueName{q.PipelineID, q.Kind}, userID}
	head := s.headOfQueue(ctx, Member{UserID: userID, OrgID: q.OrgID, PipelineID: q.PipelineID}, q.Kind)
	from, goesOn := s.walks.Get(name)
	if !goesOn || from.before(head) { // what lies before the head is nobody's
		from, goesOn = head, false
	}
	var free, end bool
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(anyFreeSQL, q.PipelineID, q.OrgID, userID, q.Kind, from.Priority, from.TaskID).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&free, &from.Priority, &from.TaskID)
		if end = noRows(err); end {
			return nil
		}
		return err
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return 0, err
	}
	switch {
	case end && goesOn: // now from the head to there
		s.walks.Remove(name)
		return s.anyFree(ctx, userID, q)
	case end:
		return 0, nil
	}
	s.walks.Add(name, from)
	if free {
		return 1, nil
	}
	return 0, nil
}
