package main

import (
	"io"
	"log/slog"

	"github.com/taskloom/taskloom/internal/config"
)

// newLogger makes the structured log of a process.
func newLogger(c config.Config, w io.Writer, process string) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.Level()}
	var h slog.Handler = slog.NewJSONHandler(w, o)
	if c.LogFormat == "text" {
		h = slog.NewTextHandler(w, o)
	}
	return slog.New(h).With("process", process, "version", buildVersion().Version)
}
