package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/taskloom/taskloom/internal/measure/process"
)

// newChild prepares a program that runs beside the bench; Start starts it.
func (b *bench) newChild(name, path string, env []string, args ...string) (*process.Process, error) {
	dir, err := b.directory()
	if err != nil {
		return nil, err
	}
	return &process.Process{Name: name, Path: path, Args: args, Env: env, Log: filepath.Join(dir, name+".log")}, nil
}

// directory is a place for files that goes with the run.
func (b *bench) directory() (string, error) {
	if b.dir != "" {
		return b.dir, nil
	}
	dir, err := os.MkdirTemp("", "taskloom-bench-")
	if err != nil {
		return "", fmt.Errorf("make a temporary directory: %w", err)
	}
	b.dir = dir
	b.later(func() { _ = os.RemoveAll(dir) })
	return dir, nil
}
