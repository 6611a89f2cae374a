package alerts_test

import (
	"fmt"
	"net/http"
	"syscall"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/alerttest"
)

// withoutTemporal stops Temporal while people work on.
func (l *live) withoutTemporal() {
	l.t.Helper()
	before := l.until("all is told", func(s alerttest.Scrape) bool {
		rows, ok := s.Value("taskloom_outbox_rows", "")
		return ok && rows == 0
	})
	l.Signal("temporal", syscall.SIGSTOP)
	thawed := false
	thaw := func() {
		if !thawed {
			thawed = true
			l.Signal("temporal", syscall.SIGCONT)
		}
	}
	defer thaw()
	l.create(20)
	for range 6 { // somebody waits for what follows from what is handed in
		path, _ := l.claim()
		values := map[string]any{"values": map[string]any{"answer": "2", "confident": true}}
		require.Equal(l.t, http.StatusOK, l.send(l.person, http.MethodPost, path+"/submit", values, nil))
	}
	after := l.until("the outbox waits", func(s alerttest.Scrape) bool {
		ready, ok := s.Value("taskloom_workers_ready", `queue="tasks"`)
		return ok && ready == 0 && over("taskloom_dispatch_breaker_state", "", 0)(s) &&
			over("taskloom_outbox_urgent_oldest_seconds", "", 3)(s) && over("taskloom_tasks_lag_oldest_seconds", "", 3)(s) &&
			over("taskloom_dispatch_breaker_trips_total", "", 0)(s)
	})
	thaw()
	l.fires("TemporalUnreachable", before, after)
	l.fires("DispatchBreakerOpen", before, after)
	l.fires("DispatchBreakerFlaps", before, after, alerttest.Scale{From: "> 3", To: "> 0"})
	l.fires("OutboxOldest", before, after, alerttest.Scale{From: "> 60", To: "> 3"})
	l.fires("OutboxStartsWait", before, after, alerttest.Scale{From: "> 900", To: "> 3"})
	l.fires("TasksLag", before, after, alerttest.Scale{From: "> 300", To: "> 3"})
	l.fires("TaskFarBehind", before, after, alerttest.Scale{From: "> 20", To: "> 0"})

	after = l.until("all is told again", func(s alerttest.Scrape) bool {
		rows, ok := s.Value("taskloom_outbox_rows", "")
		return ok && rows == 0 && over("taskloom_workers_ready", `queue="tasks"`, 0)(s)
	})
	l.fires("DeliveriesSlow", before, after, alerttest.Scale{From: "> 50", To: "> 0"})

	steps, _ := before.Value("taskloom_step_delay_seconds_count", "")
	after = l.until("the steps are written", over("taskloom_step_delay_seconds_count", "", steps+5))
	l.fires("StepsSlow", before, after, alerttest.Scale{From: "> 50", To: "> 0"})
}

// withoutPostgres ends its connections and lets nobody in again.
func (l *live) withoutPostgres() {
	l.t.Helper()
	before := l.now()
	l.exec(`SELECT 1`) // our own connection is there
	l.Signal("postgres", syscall.SIGSTOP)
	defer l.Signal("postgres", syscall.SIGCONT)
	l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	var callers errgroup.Group
	for range 12 {
		callers.Go(func() error {
			if status := l.send(l.plain, http.MethodGet, l.tasks(), nil, nil); status < 500 {
				return fmt.Errorf("answered %d without a database", status)
			}
			return nil
		})
	}
	require.NoError(l.t, callers.Wait())
	after := l.until("serve says so", func(s alerttest.Scrape) bool {
		return s[`taskloom_database_up{job="taskloom",instance="serve"}`] == "0"
	})
	l.Signal("postgres", syscall.SIGCONT)
	l.fires("DatabaseUnreachable", before, after)
	l.fires("ServerErrors", before, after)
	l.fires("AvailabilityBurnsFast", before, after)
	l.fires("AvailabilityBurnsSlowly", before, after)
	l.WaitReady()
}

// withoutProcesses kills the worker, then serve.
func (l *live) withoutProcesses() {
	l.t.Helper()
	before := l.until("all is well", over("taskloom_workers_heard", `queue="tasks"`, 0))
	l.Worker.Halt()
	after := l.until("the worker is missed", func(s alerttest.Scrape) bool {
		heard, ok := s.Value("taskloom_workers_heard", `queue="tasks"`)
		return ok && heard == 0
	})
	l.fires("NoWorkerAlive", before, after)
	l.Serve.Halt()
	l.fires("NoServe", before, l.now())
}
