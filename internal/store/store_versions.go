package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// versionsKept bounds the cache: a compiled version of a large form takes some
// hundred kilobytes, and few pipelines are busy at a time.
const versionsKept = 256

// loadTimeout bounds one loading, which others may wait for.
const loadTimeout = 10 * time.Second

// versionCache keeps compiled versions. They are immutable, so nothing in it
// can go stale while the database is the same.
type versionCache struct {
	kept    *lru.Cache[int64, *pipeline.Pipeline]
	loading singleflight.Group
	server  atomic.Pointer[string] // where the newest connection leads to
}

func newVersionCache() *versionCache {
	kept, err := lru.New[int64, *pipeline.Pipeline](versionsKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &versionCache{kept: kept}
}

// connected empties the cache when a new connection leads to another server or database
// than the ones before. It may be a standby that took over, or a backup that was put back,
// which had not heard of some versions and gives their numbers to others.
func (c *versionCache) connected(ctx context.Context, conn *pgx.Conn) error {
	var server string
	err := conn.QueryRow(ctx, `SELECT pg_postmaster_start_time()::text || ' ' || oid FROM pg_database WHERE datname = current_database()`).Scan(&server)
	if err != nil {
		return err
	}
	if last := c.server.Load(); last == nil || *last != server {
		c.server.Store(&server)
		c.kept.Purge()
	}
	return nil
}

// Version returns a published version, compiled. Callers got the id from a row
// that was scoped to their organization.
func (s *Store) Version(ctx context.Context, versionID int64) (*pipeline.Pipeline, error) {
	if p, ok := s.versions.kept.Get(versionID); ok {
		return p, nil
	}
	// The first of many callers loads for all; it must not fail the others by
	// hanging up.
	loaded := s.versions.loading.DoChan(strconv.FormatInt(versionID, 10), func() (any, error) {
		loading, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		return s.loadVersion(loading, s.pool, versionID)
	})
	select {
	case <-ctx.Done():
		return nil, translate(ctx.Err())
	case r := <-loaded:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*pipeline.Pipeline), nil
	}
}

// versionIn is Version inside a transaction: it reads with the transaction's
// own connection, because waiting for a second one while holding the first
// could leave everybody waiting.
func (s *Store) versionIn(ctx context.Context, tx pgx.Tx, versionID int64) (*pipeline.Pipeline, error) {
	if p, ok := s.versions.kept.Get(versionID); ok {
		return p, nil
	}
	return s.loadVersion(ctx, tx, versionID)
}

func (s *Store) loadVersion(ctx context.Context, q querier, versionID int64) (*pipeline.Pipeline, error) {
	var raw json.RawMessage
	err := q.QueryRow(ctx, `SELECT definition FROM pipeline_versions WHERE id = $1`, versionID).Scan(&raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "pipeline version %d not found", versionID)
	}
	if err != nil {
		return nil, translate(fmt.Errorf("load pipeline version: %w", err))
	}
	def, err := pipeline.Stored(raw)
	if err != nil {
		return nil, fmt.Errorf("parse pipeline version %d: %w", versionID, err)
	}
	p := pipeline.Compile(def)
	s.versions.kept.Add(versionID, p)
	return p, nil
}
