package store

import "time"

// Identity tells a task from another one of the same number. After a restore, and
// after a failover to a standby that had not heard of everything, numbers are given
// out again, those of pipeline versions, too.
type Identity struct {
	VersionID int64     `json:"version_id"`
	CreatedAt time.Time `json:"created_at"`
}

func (i Identity) is(o Identity) bool {
	return i.VersionID == o.VersionID && i.CreatedAt.Equal(o.CreatedAt)
}

func (t *lockedTask) identity() Identity {
	return Identity{VersionID: t.VersionID, CreatedAt: t.CreatedAt.UTC()}
}
