package main

import (
	"context"
	"os"
	"testing"
)

// asVar makes the test binary play another program: taskloom-dev itself, or a
// stand-in for bin/taskloom. So the tests run real processes without a build.
const asVar = "TASKLOOM_DEV_TEST_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(asVar) {
	case "taskloom-dev":
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	case "taskloom":
		os.Exit(runFakeApp(os.Args[1:]))
	}
	os.Exit(m.Run())
}
