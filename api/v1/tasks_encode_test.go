package v1

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/task"
)

// TestAPageIsEncodedAsByReflection compares with what huma makes of the same page.
func TestAPageIsEncodedAsByReflection(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := TaskPage{Tasks: rapid.SliceOfN(rapid.Custom(drawTask), 0, 4).Draw(t, "tasks"), HasMore: rapid.Bool().Draw(t, "more")}
		if p.Tasks == nil {
			p.Tasks = []Task{}
		}
		if p.HasMore {
			next := cursor.New(make([]byte, 32)).Encode(cursor.Scope{OrgID: 1}, rapid.Int64Min(1).Draw(t, "id"))
			p.NextCursor = &next
		}
		var want bytes.Buffer
		require.NoError(t, huma.DefaultJSONFormat.Marshal(&want, p))
		got, err := edge.Encode(p)
		require.NoError(t, err)
		require.Equal(t, want.String(), string(got))
		require.True(t, json.Valid(got))
	})
}

// TestATimeThatJSONCannotSayIsAnError is what encoding/json does with it, too.
func TestATimeThatJSONCannotSayIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range []TaskPage{
		{Tasks: []Task{{CreatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}},
		{Tasks: []Task{{UpdatedAt: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}}},
	} {
		_, err := edge.Encode(p)
		require.Error(t, err)
	}
}

func drawTask(t *rapid.T) Task {
	count := rapid.IntRange(0, 200)
	at := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, "s"), rapid.Int64Range(0, 999_999).Draw(t, "us")*1000).UTC()
	})
	return Task{
		ID: rapid.Int64Min(1).Draw(t, "id"), Status: string(rapid.SampledFrom(task.Statuses()).Draw(t, "status")),
		NodeSummary: NodeSummary{
			Total: count.Draw(t, "total"), Finished: count.Draw(t, "finished"), InProgress: count.Draw(t, "in progress"), Pending: count.Draw(t, "pending"),
		},
		CreatedAt: at.Draw(t, "created"), UpdatedAt: at.Draw(t, "updated"),
	}
}

// BenchmarkTaskPage encodes a page of 200: as answers are, and by reflection.
func BenchmarkTaskPage(b *testing.B) {
	p := TaskPage{Tasks: make([]Task, 200)}
	for i := range p.Tasks {
		at := time.Date(2026, 11, 24, 12, 0, i%60, 123_456_000, time.UTC)
		p.Tasks[i] = Task{ID: int64(1_000_000 - i), Status: "in_progress", NodeSummary: NodeSummary{2, 1, 1, 0}, CreatedAt: at, UpdatedAt: at}
	}
	for name, encode := range map[string]func() error{
		"appended":   func() error { _, err := edge.Encode(p); return err },
		"reflection": func() error { return huma.DefaultJSONFormat.Marshal(new(bytes.Buffer), p) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := encode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
