package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	dbosModule = "github.com/dbos-inc/dbos-transact-golang"
	dbosTopic  = "step"
)

// dbosFlow is DBOS's library in this process: a workflow that receives three
// messages and runs a step for each of them and for the start.
type dbosFlow struct {
	db       *database
	pool     *pgxpool.Pool
	dbos     dbos.Context
	launched bool
	last     atomic.Int64
}

func dbosFlowContender() *flowContender {
	return &flowContender{
		in: info{Name: "DBOS", Version: moduleVersion(dbosModule), Contract: "dbos", Uses: []string{partPostgres}},
		open: func(ctx context.Context, r *room) (flowSystem, *database, error) {
			f := &dbosFlow{}
			var err error
			if f.db, f.pool, err = newFlowDatabase(ctx, r); err != nil {
				return f, f.db, err
			}
			err = f.start(ctx)
			return f, f.db, err
		},
	}
}

func (f *dbosFlow) start(ctx context.Context) (err error) {
	own, err := newPool(ctx, f.db.url)
	if err != nil {
		return err
	}
	f.dbos, err = dbos.NewContext(ctx, dbos.Config{SystemDBPool: own, AppName: "race", Logger: quiet, ApplicationVersion: "race"})
	if err != nil {
		return err
	}
	dbos.RegisterWorkflow(f.dbos, f.run)
	f.launched = true
	return dbos.Launch(f.dbos)
}

func (f *dbosFlow) run(ctx dbos.Context, id int64) (int, error) {
	for step := 0; step <= stepFinished; step++ {
		if step > 0 {
			if _, err := dbos.Recv[int](ctx, dbosTopic, 10*time.Minute); err != nil {
				return step, err
			}
		}
		_, err := dbos.RunAsStep(ctx, func(ctx context.Context) (int, error) {
			sql, args := flowStep, []any{id, step}
			if step == 0 {
				sql, args = flowBegin, args[:1]
			}
			_, err := f.pool.Exec(ctx, sql, args...)
			return step, err
		})
		if err != nil {
			return step, err
		}
	}
	return stepFinished, nil
}

func (f *dbosFlow) begin(ctx context.Context, client int) (life, error) {
	l := life{id: f.last.Add(1)}
	l.token = fmt.Sprintf("life-%d", l.id)
	if _, err := dbos.RunWorkflow(f.dbos, f.run, l.id, dbos.WithWorkflowID(l.token)); err != nil {
		return l, err
	}
	return f.message(ctx, client, l, stepClaimed)
}

func (f *dbosFlow) message(_ context.Context, _ int, l life, step int) (life, error) {
	return l, dbos.Send(f.dbos, l.token, step, dbosTopic)
}

func (f *dbosFlow) reached(step int) string { return stepsReached(step) }

func (f *dbosFlow) children() []*child { return nil }

func (f *dbosFlow) directory() string { return "" }

func (f *dbosFlow) end(r *room) {
	if f.launched {
		_ = dbos.Shutdown(f.dbos, 10*time.Second) // nothing is running any more
	}
	if f.pool != nil {
		f.pool.Close()
	}
	r.drop(f.db)
}
