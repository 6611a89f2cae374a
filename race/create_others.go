package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// riverCreator inserts with COPY, as InsertManyFast does.
type riverCreator struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	items  []river.InsertManyParams
}

func riverCreateContender() *createContender {
	return &createContender{
		in: info{Name: "River InsertManyFast", Version: moduleVersion(riverModule), Contract: "river", Uses: []string{partPostgres}},
		base: func(ctx context.Context, r *room, items int) (*database, error) {
			q, err := openRiver(ctx, r, items)
			if q.pool != nil {
				q.pool.Close()
			}
			return q.db, err
		},
		open: func(ctx context.Context, r *room, db *database) (creator, error) {
			c := &riverCreator{items: riverItems(mostPerRequest, r.payload)}
			var err error
			if c.pool, err = newPool(ctx, db.url); err != nil {
				return nil, err
			}
			c.client, err = river.NewClient(riverpgxv5.New(c.pool), &river.Config{Logger: quiet})
			return c, err
		},
	}
}

func (c *riverCreator) create(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	_, err := c.client.InsertManyFast(ctx, c.items)
	return time.Since(began), err
}

func (c *riverCreator) children() []*child { return nil }

func (c *riverCreator) end(*room) { c.pool.Close() }

// nodeCreator inserts through a driver.
type nodeCreator struct {
	driver *nodeDriver
	bytes  int
}

func pgBossCreateContender(o options) *createContender {
	in := pgBoss.info(o)
	in.Name += " insert([…])"
	return &createContender{
		in: in,
		base: func(ctx context.Context, r *room, items int) (*database, error) {
			q, err := openNode(ctx, r, pgBoss, items)
			if q.driver != nil {
				q.driver.finish()
			}
			return q.db, err
		},
		open: func(ctx context.Context, r *room, db *database) (creator, error) {
			d, err := r.startNode(pgBoss.name, pgBoss.system, db.url)
			if err != nil {
				return nil, err
			}
			return &nodeCreator{driver: d, bytes: r.payload}, d.do(ctx, "setup", nil, nil)
		},
	}
}

func (c *nodeCreator) create(ctx context.Context) (time.Duration, error) {
	var answer struct {
		Micros int64 `json:"us"`
	}
	err := c.driver.do(ctx, "insert", map[string]any{"items": mostPerRequest, "bytes": c.bytes}, &answer)
	return time.Duration(answer.Micros) * time.Microsecond, err
}

func (c *nodeCreator) children() []*child { return []*child{c.driver.child} }

func (c *nodeCreator) end(*room) { c.driver.finish() }
