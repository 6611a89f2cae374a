package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/postgres"
)

// The parts' names, as in pid files and logs. A stack stops in this order.
const (
	serve        = "serve"
	worker       = "worker"
	s3Part       = "s3"
	temporalPart = "temporal"
	postgresPart = "postgres"
)

// The secrets of a part travel in its environment: arguments show up in ps.
const (
	PostgresPasswordVar = "TASKLOOM_DEV_POSTGRES_PASSWORD"
	S3AccessKeyVar      = "TASKLOOM_DEV_S3_ACCESS_KEY_ID"
	S3SecretVar         = "TASKLOOM_DEV_S3_SECRET_ACCESS_KEY"
)

const (
	region = "us-east-1"
	bucket = "taskloom"
)

// partTime is how long Temporal or S3 may take to be ready, and readyTime the
// product itself.
const (
	partTime  = 90 * time.Second
	readyTime = 60 * time.Second
)

func (s *Stack) postgresProcess(cluster *postgres.Cluster) Part {
	spec := cluster.Spec()
	if s.discard {
		spec.Stop = []child.Stop{{Signal: postgres.Immediate, Patience: 5 * time.Second}}
	}
	return Part{Spec: spec, Title: "Postgres", Await: cluster.Await}
}

func (s *Stack) temporalProcess(cluster *postgres.Cluster, ui bool) Part {
	args := []string{
		"temporal", "--postgres", cluster.Addr(),
		"--frontend", strconv.Itoa(s.settings.Ports[portTemporal]),
		"--history", strconv.Itoa(s.settings.Ports[portHistory]),
		"--matching", strconv.Itoa(s.settings.Ports[portMatching]),
		"--worker", strconv.Itoa(s.settings.Ports[portTemporalWorker]),
	}
	if ui {
		args = append(args, "--ui", strconv.Itoa(s.settings.Ports[portUI]))
	}
	spec := s.ourselves(temporalPart, args)
	spec.Env = append(os.Environ(), PostgresPasswordVar+"="+s.settings.PostgresPassword)
	return Part{Spec: spec, Title: "Temporal", Await: reported(partTime)}
}

func (s *Stack) s3Process() Part {
	spec := s.ourselves(s3Part, []string{
		"s3", "--addr", s.local(portS3), "--dir", s.dir.Path("s3"), "--bucket", bucket, "--region", region,
	})
	spec.Env = append(os.Environ(), S3AccessKeyVar+"="+s.settings.S3AccessKeyID, S3SecretVar+"="+s.settings.S3SecretKey)
	return Part{Spec: spec, Title: "S3", Await: reported(partTime)}
}

// ourselves runs a part as a process of this same program.
func (s *Stack) ourselves(name string, args []string) child.Spec {
	spec := child.Spec{
		Name: name, Path: s.self, Args: args, Dir: s.dir.Path(),
		Orphan: syscall.SIGKILL, // what they keep survives a kill
		Log:    s.dir.Log(name), Pid: s.dir.Pid(name), Reports: true,
	}
	if !s.discard {
		spec.Stop = []child.Stop{{Signal: syscall.SIGTERM, Patience: 10 * time.Second}}
	}
	return spec
}

// appProcess runs one of the product's processes, as production does.
func (s *Stack) appProcess(name, binary string, env []string, await func(context.Context, *child.Child) error) Part {
	patience := map[string]time.Duration{serve: 15 * time.Second, worker: 25 * time.Second}
	return Part{
		Title: "taskloom " + name,
		Await: await,
		Spec: child.Spec{
			Name: name, Path: binary, Args: []string{name}, Env: env,
			Orphan: syscall.SIGKILL,
			Stop:   []child.Stop{{Signal: syscall.SIGTERM, Patience: patience[name]}},
			Log:    s.dir.Log(name), Pid: s.dir.Pid(name),
		},
	}
}

// reported waits until a part says that it is ready.
func reported(within time.Duration) func(context.Context, *child.Child) error {
	return func(ctx context.Context, c *child.Child) error {
		timer := time.NewTimer(within)
		defer timer.Stop()
		select {
		case <-c.Ready():
		case <-c.Done():
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("%s was not ready after %v\n  log: %s", c.Spec.Name, within, c.Spec.Log)
		}
		return nil
	}
}

// started is for a part whose readiness is somebody else's to tell.
func started(context.Context, *child.Child) error { return nil }

// answersOK waits until a URL answers 200.
func answersOK(url string, within time.Duration) func(context.Context, *child.Child) error {
	return func(ctx context.Context, c *child.Child) error {
		limited, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		poll := time.NewTicker(50 * time.Millisecond)
		defer poll.Stop()
		last := errors.New("no answer")
		for {
			status, body, err := get(limited, url, "")
			switch {
			case err == nil && status == http.StatusOK:
				return nil
			case err == nil:
				last = fmt.Errorf("it answers %d: %s", status, body)
			case limited.Err() == nil:
				last = err
			}
			select {
			case <-poll.C:
			case <-c.Done():
				return nil
			case <-limited.Done():
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return fmt.Errorf("%s is not ready after %v: %w\n  logs: %s", url, within, last, filepath.Dir(c.Spec.Log))
			}
		}
	}
}
