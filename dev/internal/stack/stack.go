package stack

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/port"
	"github.com/taskloom/taskloom/dev/internal/postgres"
	"github.com/taskloom/taskloom/dev/internal/progress"
	"github.com/taskloom/taskloom/dev/internal/state"
)

// The names of the ports in the settings.
const (
	portPostgres       = "postgres"
	portTemporal       = "temporal"
	portUI             = "temporal-ui"
	portHistory        = "temporal-history"
	portMatching       = "temporal-matching"
	portTemporalWorker = "temporal-worker"
	portS3             = "s3"
	portMetrics        = "metrics"
	portWorkerMetrics  = "worker-metrics"
	portApp            = "app" // for exec only: up has ADDR
)

// appDatabase is the product's database.
const appDatabase = "taskloom"

// Stack is the three parts that the product needs, in one state directory.
type Stack struct {
	dir      *state.Dir
	settings state.Settings
	ports    *port.Reservations
	spawner  *child.Spawner
	sup      *Supervisor
	say      *progress.Reporter
	self     string // the path of this program
	discard  bool   // the state is thrown away afterwards: no need to end in order
}

// open makes the state directory ready for use: locked, ours, and left by any
// earlier run.
func open(ctx context.Context, dir string, say *progress.Reporter, restart bool, in *Interrupt) (*Stack, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own program: %w", err)
	}
	locked, err := state.Open(dir)
	if err != nil {
		return nil, err
	}
	spawner := child.NewSpawner()
	s := &Stack{
		dir: locked, ports: &port.Reservations{}, spawner: spawner, say: say, self: self,
		sup: newSupervisor(spawner, say, restart, in.again),
	}
	step := say.Start("The last run", "waiting for its end")
	err = locked.AwaitOrphans(ctx, step.Doing)
	step.Done(err)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *Stack) close() {
	s.ports.Close()
	s.dir.Close()
}

// settle loads the settings and takes the ports that are needed.
func (s *Stack) settle(names ...string) error {
	if err := s.dir.Check(); err != nil {
		return err
	}
	settings, err := s.dir.LoadSettings()
	if err != nil {
		return err
	}
	s.settings = settings
	for _, name := range names {
		free, err := s.ports.Take(settings.Ports[name])
		if err != nil {
			return err
		}
		settings.Ports[name] = free
	}
	return s.dir.SaveSettings(s.settings)
}

// wanted says which parts to run.
type wanted struct {
	postgres, temporal, ui, s3 bool
	database                   bool // make the product's database
	connections                int  // Postgres' max_connections; 0 is the usual
	statements                 bool // Postgres counts what each statement costs
}

func (w wanted) ports() []string {
	var names []string
	if w.postgres {
		names = append(names, portPostgres)
	}
	if w.temporal {
		names = append(names, portTemporal, portHistory, portMatching, portTemporalWorker)
	}
	if w.ui {
		names = append(names, portUI)
	}
	if w.s3 {
		names = append(names, portS3)
	}
	return names
}

// start runs the parts: S3 beside Postgres, which Temporal waits for.
func (s *Stack) start(ctx context.Context, want wanted) error {
	group, ctx := errgroup.WithContext(ctx)
	if want.s3 {
		group.Go(func() error { return s.sup.Start(ctx, s.s3Process()) })
	}
	if want.postgres {
		group.Go(func() error { return s.startPostgres(ctx, want) })
	}
	return group.Wait()
}

func (s *Stack) startPostgres(ctx context.Context, want wanted) error {
	cluster, err := s.prepareCluster(ctx, want)
	if err != nil {
		return err
	}
	if err := s.sup.Start(ctx, s.postgresProcess(cluster)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if want.database {
		group.Go(func() error { return cluster.CreateDatabase(ctx, appDatabase) })
	}
	if want.temporal {
		group.Go(func() error { return s.sup.Start(ctx, s.temporalProcess(cluster, want.ui)) })
	}
	return group.Wait()
}

// prepareCluster makes the cluster and remembers where it had to go.
func (s *Stack) prepareCluster(ctx context.Context, want wanted) (*postgres.Cluster, error) {
	step := s.say.Start("Postgres", "preparing")
	cluster, err := postgres.Setup{
		Spawner: s.spawner, Say: s.say,
		Dir: s.dir.Path(), Elsewhere: s.settings.PostgresBase, ID: s.settings.ID,
		Password: s.settings.PostgresPassword, Port: s.settings.Ports[portPostgres],
		Log: s.dir.Log(postgresPart), Pid: s.dir.Pid(postgresPart),
		Keep: s.keepBase, MaxConnections: want.connections, CountStatements: want.statements,
	}.Prepare(ctx, step.Doing)
	step.Done(err)
	return cluster, err
}

// keepBase remembers a place outside the state directory before anything is
// put there, so that it is found again, and removed by FRESH=1.
func (s *Stack) keepBase(base string) error {
	s.settings.PostgresBase = base
	return s.dir.SaveSettings(s.settings)
}

// stop ends everything that runs: the product first, its database last.
func (s *Stack) stop() {
	s.sup.Stop(serve, worker, s3Part, temporalPart, postgresPart)
}

// local is the address of one of our ports.
func (s *Stack) local(name string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.settings.Ports[name]))
}
