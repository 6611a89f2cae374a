package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// taskloomBases makes databases of the product, from one template. Filled once,
// they are copied for the next who asks.
type taskloomBases struct {
	world *taskloomWorld
	made  map[int]*database
}

// make is createContender.base.
func (b *taskloomBases) make(ctx context.Context, r *room, items int) (*database, error) {
	if b.world == nil {
		w, err := newTaskloomWorld(ctx, r, 1, "30m")
		if err != nil {
			return nil, err
		}
		b.world, b.made = w, map[int]*database{}
	}
	if db := b.made[items]; db != nil {
		return r.newDatabase(ctx, db)
	}
	t, err := b.world.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	defer t.serve.Stop()
	if err := t.fill(ctx, items, r.payload); err != nil {
		return nil, err
	}
	// With these items Temporal is done: nobody has a million of messages waiting.
	b.made[items] = t.db
	return t.db, execURL(ctx, t.db.url, `TRUNCATE outbox`)
}

// taskloomCreator sends requests to the API.
type taskloomCreator struct {
	t      *taskloom
	client *httpClient
	body   []byte
}

func taskloomCreateContender(o options, bases *taskloomBases) *createContender {
	return &createContender{
		in:   info{Name: ours, Version: taskloomVersion(o), Contract: contractOurs, Uses: []string{partPostgres}},
		base: bases.make,
		open: func(ctx context.Context, r *room, db *database) (creator, error) {
			t, err := bases.world.prepare(ctx, r, db)
			if err != nil {
				return nil, err
			}
			c := &taskloomCreator{
				t: t, client: newHTTPClient(t.base, 1, "Authorization", "Bearer "+t.key), body: createBody(mostPerRequest, r.payload),
			}
			if err := t.serve.Start(); err != nil {
				return c, err
			}
			return c, awaitOK(ctx, t.serve, t.base+"/healthz")
		},
	}
}

func (c *taskloomCreator) create(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	_, answer, err := c.client.call(ctx, http.MethodPost, c.t.createPath(), c.body)
	took := time.Since(began)
	if err == nil {
		err = allCreated(answer, mostPerRequest)
	}
	return took, err
}

// allCreated makes sure that an answer is of so many tasks, without reading all of
// it.
func allCreated(answer []byte, tasks int) error {
	if bytes.HasPrefix(answer, fmt.Appendf(nil, `{"success_count":%d,`, tasks)) {
		return nil
	}
	return fmt.Errorf("not all of %d tasks were created: %.200s", tasks, answer)
}

func (c *taskloomCreator) children() []*child { return []*child{c.t.serve} }

func (c *taskloomCreator) end(*room) {
	c.client.closeIdle()
	c.t.serve.Stop()
}
