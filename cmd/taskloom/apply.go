package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func (a *app) applyCommand() *cobra.Command {
	var file string
	var output format
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Bring about the organizations, people, pipelines and keys of a document",
		Long: "Bring about what a YAML or JSON document says, all of it or, when anything is wrong, nothing.\n" +
			"Everything is known by its name, so the same document can be applied again without effect.\n" +
			"The values of API keys are printed when they are made, and never again.",
		Example: "  taskloom apply -f organizations.yaml\n  taskloom apply -f - --output json < organizations.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return a.apply(cmd.Context(), file, output)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the document; - reads standard input")
	_ = cmd.MarkFlagRequired("file") // only fails for an unknown flag
	addFormat(cmd, &output)
	return cmd
}

func (a *app) apply(ctx context.Context, file string, output format) error {
	c, err := a.config("DATABASE_URL")
	if err != nil {
		return err
	}
	data, err := a.readDocument(file)
	if err != nil {
		return err
	}
	doc, err := apply.Read(data)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer st.Close()
	result, err := st.Apply(ctx, doc, store.ApplyOptions{Rand: rand.Reader, Pipelines: pipeline.Options{LLM: false}})
	if err != nil {
		return err
	}
	if output == "json" {
		return printJSON(a.out, result)
	}
	return printApplied(a.out, result)
}

func (a *app) readDocument(file string) ([]byte, error) {
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fault.New(fault.NotFound, "cannot read the document: %s", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, apply.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

func printApplied(w io.Writer, r apply.Result) error {
	var rows [][]string
	add := func(cells ...string) { rows = append(rows, cells) }
	for _, o := range r.Organizations {
		add("organization", id(o.ID), o.Slug, "")
		for _, p := range o.Projects {
			add("project", id(p.ID), p.Name, "")
			for _, l := range p.Pipelines {
				add("pipeline", id(l.ID), l.Name, l.Status)
			}
		}
		for _, d := range o.Datasets {
			add("dataset", id(d.ID), d.Name, strconv.Itoa(d.Rows)+" rows")
		}
		for _, k := range o.APIKeys {
			value := k.Value
			if value == "" {
				value = "(made before; its value is not kept)"
			}
			add("API key", "", k.Name, value)
		}
	}
	return printTable(w, []string{"WHAT", "ID", "NAME", ""}, rows)
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
