package pipeline_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestNextStatus(t *testing.T) {
	t.Parallel()
	const (
		draft, active, paused = pipeline.StatusDraft, pipeline.StatusActive, pipeline.StatusPaused
		completed, archived   = pipeline.StatusCompleted, pipeline.StatusArchived
	)
	type move struct {
		status string
		verb   pipeline.Verb
	}
	legal := map[move]string{
		{draft, pipeline.VerbPublish}: active, {active, pipeline.VerbPublish}: active, {paused, pipeline.VerbPublish}: paused,
		{active, pipeline.VerbPause}:    paused,
		{paused, pipeline.VerbResume}:   active,
		{active, pipeline.VerbComplete}: completed, {paused, pipeline.VerbComplete}: completed,
		{completed, pipeline.VerbReopen}: active,
		{draft, pipeline.VerbArchive}:    archived, {paused, pipeline.VerbArchive}: archived, {completed, pipeline.VerbArchive}: archived,
		{archived, pipeline.VerbUnarchive}: paused,
	}
	for _, status := range pipeline.Statuses() {
		for _, verb := range pipeline.Verbs() {
			next, err := pipeline.NextStatus(status, true, verb)
			want, ok := legal[move{status, verb}]
			if ok {
				require.NoError(t, err)
				require.Equal(t, want, next, "%s %s", verb, status)
				continue
			}
			require.True(t, fault.Is(err, fault.Conflict), "%s %s: %v", verb, status, err)
			require.ErrorContains(t, err, "the pipeline is "+status)
		}
	}
}

func TestNextStatusNamesTheWayOut(t *testing.T) {
	t.Parallel()
	_, err := pipeline.NextStatus(pipeline.StatusActive, true, pipeline.VerbArchive)
	require.ErrorContains(t, err, "the pipeline is ACTIVE; archive works only while it is DRAFT or PAUSED or COMPLETED")
	_, err = pipeline.NextStatus(pipeline.StatusActive, true, "explode")
	require.True(t, fault.Is(err, fault.InvalidRequest))
	require.ErrorContains(t, err, `"explode"`)
	require.ErrorContains(t, err, "publish, pause, resume, complete, reopen, archive, unarchive")
}

func TestAPipelineThatWasNeverPublishedLeavesTheArchiveAsADraft(t *testing.T) {
	t.Parallel()
	next, err := pipeline.NextStatus(pipeline.StatusArchived, false, pipeline.VerbUnarchive)
	require.NoError(t, err)
	require.Equal(t, pipeline.StatusDraft, next)
}

func TestPathTo(t *testing.T) {
	t.Parallel()
	const (
		publish, pause, resume   = pipeline.VerbPublish, pipeline.VerbPause, pipeline.VerbResume
		complete, reopen         = pipeline.VerbComplete, pipeline.VerbReopen
		archive, unarchive       = pipeline.VerbArchive, pipeline.VerbUnarchive
		draft, active, paused    = pipeline.StatusDraft, pipeline.StatusActive, pipeline.StatusPaused
		completed, archived, nix = pipeline.StatusCompleted, pipeline.StatusArchived, "NIX"
	)
	type verbs = []pipeline.Verb
	for _, c := range []struct {
		from      string
		published bool
		to        string
		want      verbs
		ok        bool
	}{
		{draft, false, draft, nil, true},
		{draft, false, active, verbs{publish}, true},
		{draft, false, paused, verbs{publish, pause}, true},
		{draft, false, completed, verbs{publish, complete}, true},
		{draft, false, archived, verbs{archive}, true},
		{active, true, draft, nil, false},
		{active, true, active, nil, true},
		{active, true, archived, verbs{pause, archive}, true},
		{paused, true, active, verbs{resume}, true},
		{completed, true, paused, verbs{reopen, pause}, true},
		{archived, true, active, verbs{unarchive, resume}, true},
		{archived, false, active, verbs{unarchive, publish}, true},
		{archived, false, draft, verbs{unarchive}, true},
		{archived, true, draft, nil, false},
		{active, true, pipeline.StatusPendingActivation, nil, false},
		{pipeline.StatusPendingActivation, false, active, nil, false},
		{nix, false, active, nil, false},
		{active, true, nix, nil, false},
	} {
		got, ok := pipeline.PathTo(c.from, c.published, c.to)
		require.Equal(t, c.ok, ok, "from %s to %s", c.from, c.to)
		require.Equal(t, c.want, got, "from %s to %s", c.from, c.to)
		status, published := c.from, c.published
		for _, v := range got {
			next, err := pipeline.NextStatus(status, published, v)
			require.NoError(t, err)
			status, published = next, published || v == publish
		}
		if ok {
			require.Equal(t, c.to, status)
		}
	}
}

func TestWhatAStatusAllows(t *testing.T) {
	t.Parallel()
	require.Len(t, pipeline.Statuses(), 6)
	for _, s := range append(pipeline.Statuses(), "", "active") {
		require.Equal(t, slices.Contains([]string{"ACTIVE", "PAUSED"}, s), pipeline.AcceptsTasks(s), s)
		require.Equal(t, s == "ACTIVE", pipeline.AllowsClaims(s), s)
	}
}
