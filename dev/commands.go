package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/progress"
	"github.com/taskloom/taskloom/dev/internal/s3"
	"github.com/taskloom/taskloom/dev/internal/stack"
	"github.com/taskloom/taskloom/dev/internal/temporal"
)

// newFlags makes flags that report their errors instead of ending the program.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

func up(ctx context.Context, args []string, stdout io.Writer) error {
	flags := newFlags("up")
	restart := flags.Bool("restart", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	env := stack.NewEnviron(os.Environ())
	return stack.Up(ctx, stack.UpOptions{
		Restart: *restart || env.Yes("RESTART"),
		Environ: env,
		Say:     progress.New(stdout),
		Out:     stdout,
	})
}

func execute(ctx context.Context, args []string, stderr io.Writer) (int, error) {
	flags := newFlags("exec")
	dir := flags.String("dir", "", "")
	restart := flags.Bool("restart", false, "")
	ui := flags.Bool("ui", false, "")
	connections := flags.Int("connections", 0, "")
	statements := flags.Bool("statements", false, "")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	if flags.NArg() == 0 {
		return 2, errors.New("exec needs a command: taskloom-dev exec -- go test ./...")
	}
	env := stack.NewEnviron(os.Environ())
	return stack.Exec(ctx, stack.ExecOptions{
		Dir: *dir, Restart: *restart || env.Yes("RESTART"), UI: *ui, Connections: *connections, Statements: *statements,
		Command: flags.Args(), Environ: env,
		Say: progress.New(stderr),
	})
}

func runTemporal(ctx context.Context, args []string) error {
	c := temporal.Config{PostgresUser: "postgres", PostgresPassword: os.Getenv(stack.PostgresPasswordVar)}
	flags := newFlags("temporal")
	flags.StringVar(&c.PostgresAddr, "postgres", "", "")
	flags.IntVar(&c.Frontend, "frontend", 0, "")
	flags.IntVar(&c.History, "history", 0, "")
	flags.IntVar(&c.Matching, "matching", 0, "")
	flags.IntVar(&c.Worker, "worker", 0, "")
	flags.IntVar(&c.UI, "ui", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return temporal.Run(ctx, c, child.OpenReporter())
}

func runS3(ctx context.Context, args []string) error {
	c := s3.Config{
		AccessKeyID: os.Getenv(stack.S3AccessKeyVar), SecretKey: os.Getenv(stack.S3SecretVar), Origin: os.Getenv("PUBLIC_URL"),
	}
	flags := newFlags("s3")
	flags.StringVar(&c.Addr, "addr", "", "")
	flags.StringVar(&c.Dir, "dir", "", "")
	flags.StringVar(&c.Bucket, "bucket", "", "")
	flags.StringVar(&c.Region, "region", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return s3.Run(ctx, c, child.OpenReporter())
}

func runLeash(args []string, stderr io.Writer) (int, error) {
	if len(args) < 2 || args[0] != "--" {
		return 2, errors.New("leash is for taskloom-dev exec itself")
	}
	return child.Leash(args[1:], stderr), nil
}
