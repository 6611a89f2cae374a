// Command taskloom-dev brings up everything that Taskloom needs on one machine,
// with nothing installed but Go: Postgres, Temporal with its Web UI and an S3
// gateway. `up` runs the product on them, `exec` runs any other command.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

const usage = `taskloom-dev runs Taskloom's stack on this machine.

  taskloom-dev up [--restart]
      Runs the whole product until Ctrl-C; make dev calls it in the root of the
      repository. Settings are environment variables: DEV_DIR (.dev), ADDR
      (127.0.0.1:8080), FRESH=1 to start empty; DATABASE_URL, TEMPORAL_ADDRESS,
      S3_ENDPOINT with S3_*, REDIS_URL to bring parts of your own.

  taskloom-dev exec [--dir DIR] [--restart] [--ui] [--connections N]
      [--statements] -- COMMAND [ARGUMENT...]
      Runs a command beside Postgres, Temporal and S3, with their addresses in
      its environment, and returns its exit code. DIR keeps the state; without
      it the state is removed afterwards. N is Postgres' max_connections (200).
      With --statements Postgres counts what each statement costs
      (pg_stat_statements), and times its reads.

  --restart, or RESTART=1, brings a part back that dies; without it everything
  stops then.
`

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name, rest := "", []string(nil)
	if len(args) > 0 {
		name, rest = args[0], args[1:]
	}
	var code int
	var err error
	switch name {
	case "up":
		err = up(ctx, rest, stdout)
	case "exec":
		code, err = execute(ctx, rest, stderr)
	case "temporal": // the parts, as processes of their own
		err = runTemporal(ctx, rest)
	case "s3":
		err = runS3(ctx, rest)
	case "leash":
		code, err = runLeash(rest, stderr)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
	default:
		fmt.Fprint(stderr, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintf(stderr, "taskloom-dev: %v\n", err)
		return max(code, 1)
	}
	return code
}
