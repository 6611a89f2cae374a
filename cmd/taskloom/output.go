package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/fault"
)

// format is how a command prints: a table for people, JSON for scripts.
type format string

// addFormat gives a command its --output flag.
func addFormat(cmd *cobra.Command, f *format) {
	cmd.Flags().StringVarP((*string)(f), "output", "o", "table", "json or table")
}

func (f format) check() error {
	if f != "json" && f != "table" {
		return fault.New(fault.InvalidRequest, "--output %s is unknown; choose json or table", string(f))
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printTable aligns rows under a heading.
func printTable(w io.Writer, heading []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// when prints a time of a table.
func when(t *time.Time, otherwise string) string {
	if t == nil {
		return otherwise
	}
	return t.UTC().Format("2006-01-02 15:04")
}
