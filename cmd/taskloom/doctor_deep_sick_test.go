package main

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// sickness is how one branch of an invariant is broken on purpose.
type sickness struct {
	// branch says what is broken, in a word or two.
	branch string
	// make breaks it and returns words that the doctor must say.
	make func(w *ward) string
	// flags are those without which the doctor does not ask.
	flags []string
	// also, when set, is what heals where no command can know what is right.
	also func(w *ward)
}

const (
	otherClaim = `'00000000-0000-8000-8000-000000000001'`
	// nobody is an id that no task and no user has.
	nobody = 987654
)

// sicknesses break every branch of every invariant, by its name.
var sicknesses = map[string][]sickness{
	"claim-in-journal": {{branch: "another holder", make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET claimed_by = $2 WHERE task_id = $1 AND status = 'claimed'`, w.held, w.Contributors[1])
		return fmt.Sprintf("task %d node solve: held by user %d", w.held, w.Contributors[1])
	}}},
	"claim-id-once": {{branch: "twice", make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
			SELECT task_id, seq + 1, kind, node_key, iteration, actor, claim_id, lease_ends FROM task_events WHERE task_id = $1 AND kind = 'claim'`, w.held)
		return fmt.Sprintf("task %d claim ", w.held)
	}}, {branch: "twice no id", make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration) SELECT $1, n, 'claim', 'solve', 1 FROM generate_series(2, 3) n`, w.free)
		return fmt.Sprintf("task %d claim -: given out 2 times", w.free)
	}}},
	"one-submission": {{branch: "two", make: func(w *ward) string {
		w.exec(`ALTER TABLE submissions DROP CONSTRAINT submissions_task_id_node_key_iteration_key`)
		w.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq)
			SELECT `+otherClaim+`, org_id, task_id, node_key, iteration, author, seq FROM submissions WHERE task_id = $1`, w.done)
		return fmt.Sprintf("task %d node solve round 1: 2 submissions", w.done)
	}}},
	"submission-by-holder": {{branch: "another author", make: func(w *ward) string {
		w.exec(`UPDATE submissions SET author = $2 WHERE task_id = $1`, w.done, w.Contributors[1])
		return fmt.Sprintf("task %d node solve round 1: submitted by user %d", w.done, w.Contributors[1])
	}}, {branch: "another node", make: func(w *ward) string {
		w.exec(`UPDATE submissions SET node_key = 'check' WHERE task_id = $1`, w.done)
		return fmt.Sprintf("task %d node check round 1: submitted by user %d", w.done, w.Contributors[0])
	}}, {branch: "another round", make: func(w *ward) string {
		w.exec(`UPDATE submissions SET iteration = 2 WHERE task_id = $1`, w.done)
		return fmt.Sprintf("task %d node solve round 2: submitted by user %d", w.done, w.Contributors[0])
	}}, {branch: "given back before", make: func(w *ward) string {
		w.exec(`UPDATE submissions SET seq = 4 WHERE task_id = $1`, w.done)
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id)
			SELECT task_id, 4, kind, node_key, iteration, actor, claim_id FROM task_events WHERE task_id = $1 AND seq = 3`, w.done)
		w.exec(`UPDATE task_events SET kind = 'release' WHERE task_id = $1 AND seq = 3`, w.done)
		return fmt.Sprintf("task %d node solve round 1: submitted by user %d", w.done, w.Contributors[0])
	}}},
	"submission-in-journal": {
		{branch: "no submission", make: func(w *ward) string {
			w.exec(`DELETE FROM submissions WHERE task_id = $1`, w.done)
			return fmt.Sprintf("task %d event 3: submit under claim", w.done)
		}},
		{branch: "a submission of another task", make: func(w *ward) string {
			w.exec(`UPDATE submissions SET task_id = $2 WHERE task_id = $1`, w.done, w.free)
			return fmt.Sprintf("task %d event 3: submit under claim", w.done)
		}},
		{branch: "a submission of another event", make: func(w *ward) string {
			w.exec(`UPDATE submissions SET seq = 1 WHERE task_id = $1`, w.done)
			return fmt.Sprintf("task %d event 3: submit under claim", w.done)
		}},
		{branch: "an event without a claim", make: func(w *ward) string {
			w.exec(`UPDATE task_events SET claim_id = NULL WHERE task_id = $1 AND kind = 'submit'`, w.done)
			return fmt.Sprintf("task %d event 3: submit under claim -, but nothing is there", w.done)
		}},
		unsaid("another kind", `kind = 'release'`), unsaid("another claim", `claim_id = `+otherClaim), unsaid("another node", `node_key = 'check'`),
		unsaid("another round", `iteration = 2`), unsaid("another actor", fmt.Sprintf(`actor = %d`, nobody)), unsaid("no actor", `actor = NULL`),
	},
	"nothing-done-twice": {{branch: "open again", make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET status = 'available' WHERE task_id = $1 AND key = 'solve'`, w.done)
		return fmt.Sprintf("task %d node solve round 1: available, but claim", w.done)
	}}},
	"claim-alone": {{branch: "given out again", make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
			SELECT task_id, seq + 1, kind, node_key, iteration, $2, `+otherClaim+`, lease_ends FROM task_events WHERE task_id = $1 AND kind = 'claim'`,
			w.held, w.Contributors[1])
		return fmt.Sprintf("task %d node solve: event 3 gave it to user %d", w.held, w.Contributors[1])
	}}, {branch: "expired early", make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id)
			SELECT task_id, seq + 1, 'expire', node_key, iteration, actor, claim_id FROM task_events WHERE task_id = $1 AND kind = 'claim'`, w.held)
		return fmt.Sprintf("task %d node solve: event 3 called it expired, while claim", w.held)
	}}},
	"journal-gap-free": {{branch: "a gap", make: func(w *ward) string {
		w.exec(`DELETE FROM task_events WHERE task_id = $1 AND seq = 2`, w.done)
		return fmt.Sprintf("task %d: 2 events, numbered 1 to 3", w.done)
	}}, {branch: "no beginning", make: func(w *ward) string {
		w.exec(`UPDATE task_events SET seq = seq + 1 WHERE task_id = $1`, w.free)
		return fmt.Sprintf("task %d: 1 events, numbered 2 to 2; the task is at 1", w.free)
	}}, {branch: "no journal", make: func(w *ward) string {
		w.exec(`DELETE FROM task_events WHERE task_id = $1`, w.free)
		return fmt.Sprintf("task %d: 0 events, numbered - to -; the task is at 1", w.free)
	}}, {
		branch: "ahead of its task",
		make: func(w *ward) string {
			w.exec(`INSERT INTO task_events (task_id, seq, kind) VALUES ($1, 2, 'hold')`, w.free)
			return fmt.Sprintf("task %d: 2 events, numbered 1 to 2; the task is at 1", w.free)
		},
		also: func(w *ward) { w.heal(fmt.Sprintf("repair task --task %d --apply", w.free)) },
	}},
	"nothing-without-task": {{branch: "a journal", make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind) VALUES ($1, 1, 'create')`, nobody)
		return fmt.Sprintf("journal of task %d", nobody)
	}}, {branch: "a node", make: func(w *ward) string {
		w.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status) VALUES ($1, 'solve', $2, $3, 'subtask', 'pending')`,
			nobody, w.OrgID, w.PipelineID)
		return fmt.Sprintf("node solve of task %d", nobody)
	}}, {branch: "a submission", make: func(w *ward) string {
		w.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq) VALUES (`+otherClaim+`, $1, $2, 'solve', 1, $3, 3)`,
			w.OrgID, nobody, w.Contributors[0])
		return fmt.Sprintf("submission under claim %s of task %d", otherClaim[1:len(otherClaim)-1], nobody)
	}}, {branch: "a draft", make: func(w *ward) string {
		w.draft(nobody, w.Contributors[0], w.OrgID)
		return fmt.Sprintf("draft of user %d for task %d", w.Contributors[0], nobody)
	}}, {
		branch: "an outbox row",
		make: func(w *ward) string {
			w.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', $1, 0)`, nobody)
			return fmt.Sprintf(" of task %d", nobody)
		},
		also: func(w *ward) { w.heal("repair outbox --apply") },
	}},
	"events-applied": {{branch: "behind", flags: []string{"--drained"}, make: func(w *ward) string {
		w.exec(`UPDATE tasks SET applied_seq = 1 WHERE id = $1`, w.done)
		return fmt.Sprintf("task %d: 1 of 3 events", w.done)
	}}},
	"node-summary": {{branch: "one too many", make: func(w *ward) string {
		w.exec(`UPDATE tasks SET n_finished = 1, n_in_progress = 0, n_pending = 1 WHERE id = $1`, w.held)
		return fmt.Sprintf("task %d: total 2, finished 1, in progress 0", w.held)
	}}},
	"ended-is-done": {{branch: "an open node", make: func(w *ward) string {
		w.exec(`UPDATE tasks SET status = 'finished' WHERE id = $1`, w.free)
		return fmt.Sprintf("task %d: finished, but node solve is available", w.free)
	}}},
	"failed-stays-failed": {{branch: "a claim after", make: func(w *ward) string {
		w.exec(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
			VALUES ($1, 3, 'claim', 'solve', 1, $2, `+otherClaim+`, now())`, w.failed, w.Contributors[0])
		return fmt.Sprintf("task %d event 3: claim after it was failed by event 2", w.failed)
	}}},
	"kept-counts": {{branch: "too many", make: func(w *ward) string {
		w.exec(`INSERT INTO count_changes VALUES ($1, $2, 'finished', 5)`, w.PipelineID, w.VersionID)
		return fmt.Sprintf("pipeline %d version %d: of finished there are -5 more than kept", w.PipelineID, w.VersionID)
	}}},
	"journal-readable": {{branch: "a kind that is not known", make: func(w *ward) string {
		w.exec(`UPDATE task_events SET kind = 'conjure' WHERE task_id = $1 AND seq = 1`, w.free)
		return fmt.Sprintf(`task %d: event 1 is of kind "conjure"`, w.free)
	}}, {branch: "no beginning", make: func(w *ward) string {
		w.exec(`UPDATE tasks SET start_skipped = '{solve}' WHERE id = $1`, w.free)
		return fmt.Sprintf("task %d: it cannot have begun: ", w.free)
	}}},
	"rows-follow-journal": {{branch: "another status", make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET status = 'quarantined' WHERE task_id = $1 AND key = 'solve'`, w.free)
		return fmt.Sprintf("task %d node solve: the row says quarantined round 1, the journal available round 1", w.free)
	}}, {branch: "skipped no more", make: func(w *ward) string {
		admin := w.member(w.ProjectAdmin)
		require.NoError(w.t, w.Store.Quarantine(w.t.Context(), admin, w.free, "solve", ""))
		require.NoError(w.t, w.Store.Resolve(w.t.Context(), admin, w.free, "solve", pipeline.ResolveSkip, ""))
		w.settle()
		require.Contains(w.t, section(w.t, w.deep().out, "rows-follow-journal"), "ok  ", "a skip is as sound as anything")
		w.exec(`UPDATE task_nodes SET reason = '' WHERE task_id = $1 AND key = 'solve'`, w.free)
		return fmt.Sprintf("task %d node solve: the row says na round 1, the journal na round 1, skipped", w.free)
	}}, {branch: "no row", make: func(w *ward) string {
		w.exec(`DELETE FROM task_nodes WHERE task_id = $1 AND key = 'check'`, w.free)
		return fmt.Sprintf("task %d node check: it has no row", w.free)
	}}, {branch: "a row too many", make: func(w *ward) string {
		w.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status) VALUES ($1, 'ghost', $2, $3, 'subtask', 'pending')`,
			w.free, w.OrgID, w.PipelineID)
		return fmt.Sprintf("task %d node ghost: it has a row, but is no node", w.free)
	}}, {branch: "held", make: func(w *ward) string {
		w.exec(`UPDATE tasks SET held = true WHERE id = $1`, w.free)
		return fmt.Sprintf("task %d: the row says pending, held, the journal pending", w.free)
	}}},
	"row-made-task": {{branch: "no task", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE upload_rows SET task_id = $1`, nobody)
		return fmt.Sprintf("upload %s row 0: task %d is not there", id, nobody)
	}}, {branch: "a task of another pipeline", make: func(w *ward) string {
		id, other := w.upload(w.done), w.other()
		w.exec(`UPDATE uploads SET org_id = $1, pipeline_id = $2`, other.OrgID, other.PipelineID)
		return fmt.Sprintf("upload %s row 0: task %d is not there", id, w.done)
	}}},
	"task-of-one-row": {{branch: "two uploads", make: func(w *ward) string {
		w.upload(w.done)
		w.upload(w.done)
		w.upload(w.free)
		return fmt.Sprintf("task %d: made by upload", w.done)
	}}},
	"task-has-row": {{branch: "two of one row", make: func(w *ward) string {
		id := w.upload(w.done)
		w.seeded(w.file(w.OrgID, filesKey(w.OrgID), &id))
		w.exec(`UPDATE tasks t SET input = d.input FROM tasks d WHERE d.id = $1 AND t.id = $2`, w.done, w.free)
		return fmt.Sprintf("task %d: has a file of upload %s, but no row of that made it", w.free, id)
	}}, {branch: "of another upload", make: func(w *ward) string {
		id := w.upload(w.free)
		w.upload(w.done)
		w.seeded(w.file(w.OrgID, filesKey(w.OrgID), &id))
		return fmt.Sprintf("task %d: has a file of upload %s, but no row of that made it", w.done, id)
	}}},
	"upload-rows": {{branch: "a lost row", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`DELETE FROM upload_rows`)
		return fmt.Sprintf("upload %s (completed): 0 of 1 rows are there, 0 wait", id)
	}}, {branch: "a lost row of one under way", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE uploads SET status = 'processing', finished_at = NULL, rows_total = 2`)
		return fmt.Sprintf("upload %s (processing): 1 of 2 rows are there, 0 wait", id)
	}}, {branch: "a row that waits", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE upload_rows SET status = 'waiting', task_id = NULL`)
		w.exec(`UPDATE uploads SET rows_done = 0, success_count = 0`)
		return fmt.Sprintf("upload %s (completed): 1 of 1 rows are there, 1 wait", id)
	}}, {branch: "a row too many", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`INSERT INTO upload_rows (upload_id, row_index) VALUES ($1, 1)`, id)
		return fmt.Sprintf("upload %s (completed): 2 of 1 rows are there, 1 wait", id)
	}}},
	"upload-counts": {{branch: "failed, not created", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE uploads SET success_count = 0, error_count = 1`)
		return fmt.Sprintf("upload %s (completed): 0 created, 1 failed of 1", id)
	}}, {branch: "not done", make: func(w *ward) string {
		id := w.upload(w.done)
		w.exec(`UPDATE uploads SET success_count = 0, rows_done = 0`)
		return fmt.Sprintf("upload %s (completed): 0 created, 0 failed of 1; its rows say 1, 0 of 1", id)
	}}},
	"key-made-tasks": {{branch: "under two keys", make: func(w *ward) string {
		w.answered(w.done, "batch-1", "batch-2")
		return fmt.Sprintf("task %d: answered under the Idempotency-Keys batch-", w.done)
	}}, {branch: "not there", make: func(w *ward) string {
		w.answered(nobody, "batch-1")
		return fmt.Sprintf("task %d: answered under Idempotency-Key batch-1 of API key %d, but it is not there", nobody, w.KeyID)
	}}},
	"outbox-has-event": {{branch: "no event", make: func(w *ward) string {
		w.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_event', $1, 9)`, w.done)
		return fmt.Sprintf("task %d: the outbox tells event 9", w.done)
	}}},
	"outbox-prompt": {
		late("never tried", 3, `now() - interval '2 minutes', now() - interval '2 minutes', 0, 0`),
		late("tried in vain", 3, `now() - interval '6 minutes', now() + interval '1 hour', 7, 0`),
		late("a start tried in vain", 1, `now() - interval '6 minutes', now() + interval '1 hour', 5, 0`),
		late("a claim", 3, fmt.Sprintf(`now() - interval '6 minutes', now(), 0, %d`, store.UrgencyClaimed)),
	},
	"starts-told": {late("a start", 1, fmt.Sprintf(`now() - interval '16 minutes', now(), 0, %d`, store.UrgencyCreated))},
	"uploads-told": {
		untold("nobody takes it", `ring_at = now() - interval '2 minutes'`),
		untold("tried in vain", `updated_at = now() - interval '6 minutes', ring_at = now() + interval '4 minutes', ring_attempts = 5, ring_error = 'refused'`),
	},
	"events-on-the-way": {{branch: "nothing", make: func(w *ward) string {
		w.exec(`UPDATE tasks SET applied_seq = 2 WHERE id = $1`, w.done)
		return fmt.Sprintf("task %d: 2 of 3 events are applied, nothing more is on its way", w.done)
	}}},
	"outbox-empty": {{branch: "a row", flags: []string{"--drained"}, make: func(w *ward) string {
		w.exec(`INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', $1, 0)`, w.done)
		return fmt.Sprintf("task %d event 0", w.done)
	}}},
	"tenant-of-task": {{branch: "of another", make: func(w *ward) string {
		other := w.other().OrgID
		w.exec(`UPDATE tasks SET org_id = $2 WHERE id = $1`, w.free, other)
		return fmt.Sprintf("task %d: organization %d, pipeline %d", w.free, other, w.PipelineID)
	}}, {branch: "a version of another", make: func(w *ward) string {
		other := w.other().VersionID
		w.exec(`UPDATE tasks SET version_id = $2 WHERE id = $1`, w.free, other)
		return fmt.Sprintf("task %d: organization %d, pipeline %d, version %d", w.free, w.OrgID, w.PipelineID, other)
	}}},
	"tenant-of-parts": {{branch: "a submission", make: func(w *ward) string {
		w.exec(`UPDATE submissions SET org_id = $2 WHERE task_id = $1`, w.done, w.other().OrgID)
		return fmt.Sprintf("task %d of organization %d: submission under claim", w.done, w.OrgID)
	}}, {branch: "a node", make: func(w *ward) string {
		other := w.other().OrgID
		w.exec(`UPDATE task_nodes SET org_id = $2 WHERE task_id = $1 AND key = 'check'`, w.free, other)
		return fmt.Sprintf("task %d of organization %d: node check is of organization %d\n", w.free, w.OrgID, other)
	}}, {branch: "the pipeline of a node", make: func(w *ward) string {
		other := w.other().PipelineID
		w.exec(`UPDATE task_nodes SET pipeline_id = $2 WHERE task_id = $1 AND key = 'check'`, w.free, other)
		return fmt.Sprintf("node check is of organization %d and pipeline %d, not %d", w.OrgID, other, w.PipelineID)
	}}, {branch: "a draft", make: func(w *ward) string {
		other := w.other().OrgID
		w.draft(w.free, w.Contributors[0], other)
		return fmt.Sprintf("task %d of organization %d: draft of user %d is of organization %d", w.free, w.OrgID, w.Contributors[0], other)
	}}, {branch: "a file", make: func(w *ward) string {
		other := w.other().OrgID
		id := w.taskFile(other, fmt.Sprintf("org/%d/files/x", other))
		return fmt.Sprintf("task %d of organization %d: file %s is of organization %d", w.free, w.OrgID, id, other)
	}}},
	"tenant-of-worker": {{branch: "a draft", make: func(w *ward) string {
		w.draft(w.free, nobody, w.OrgID)
		return fmt.Sprintf("task %d of organization %d: a draft was written by user %d", w.free, w.OrgID, nobody)
	}}, {branch: "a claim", make: func(w *ward) string {
		w.exec(`UPDATE task_nodes SET claimed_by = $2 WHERE task_id = $1 AND status = 'claimed'`, w.held, nobody)
		return fmt.Sprintf("task %d of organization %d: node solve is held by user %d", w.held, w.OrgID, nobody)
	}}, {branch: "a claim that was given back", make: func(w *ward) string {
		w.exec(`UPDATE task_events SET actor = $2 WHERE task_id = $1 AND kind = 'claim'`, w.done, nobody)
		return fmt.Sprintf("task %d of organization %d: event 2, a claim, was made by user %d", w.done, w.OrgID, nobody)
	}}, {branch: "a claim of nobody", make: func(w *ward) string {
		w.exec(`UPDATE task_events SET actor = NULL WHERE task_id = $1 AND kind = 'claim'`, w.done)
		return fmt.Sprintf("task %d of organization %d: event 2, a claim, was made by nobody", w.done, w.OrgID)
	}}, {branch: "a submission", make: func(w *ward) string {
		w.exec(`UPDATE submissions SET claim_id = `+otherClaim+`, author = $2 WHERE task_id = $1`, w.done, nobody)
		return fmt.Sprintf("task %d of organization %d: claim %s was handed in by user %d", w.done, w.OrgID, otherClaim[1:len(otherClaim)-1], nobody)
	}}},
	"tenant-of-file": {{branch: "a foreign key", make: func(w *ward) string {
		other := w.other().OrgID
		id := w.file(w.OrgID, fmt.Sprintf("org/%d/files/x", other), nil)
		return fmt.Sprintf("file %s of organization %d: key org/%d/files/x", id, w.OrgID, other)
	}}, {branch: "a foreign upload", make: func(w *ward) string {
		other, upload := w.other().OrgID, w.upload(w.done)
		id := w.file(other, fmt.Sprintf("org/%d/files/x", other), &upload)
		return fmt.Sprintf("file %s of organization %d: key org/%d/files/x, upload %s", id, other, other, upload)
	}}, {branch: "a file of a person", make: func(w *ward) string {
		other := w.other().OrgID
		id := w.taskFile(w.OrgID, fmt.Sprintf("org/%d/files/x", other))
		return fmt.Sprintf("file %s of organization %d: key org/%d/files/x", id, w.OrgID, other)
	}}},
	"values-name-files": valueSicknesses,
	"keys-audited":      keySicknesses,
	"members-audited":   memberSicknesses,
	"projects-audited":  projectSicknesses,
	"invites-audited":   inviteSicknesses,
	"publishes-audited": publishSicknesses,
	"acts-audited":      actSicknesses,
	"datasets-audited":  datasetSicknesses,
}

// unsaid has the event of a submission say something else.
func unsaid(branch, set string) sickness {
	return sickness{branch: branch, make: func(w *ward) string {
		w.exec(`UPDATE task_events SET `+set+` WHERE task_id = $1 AND kind = 'submit'`, w.done)
		return "handed in, but event 3 does not say so"
	}}
}

// late puts an event into the outbox that nobody told in time: when it was made, when
// it is due, how often it was tried, and its urgency.
// untold is an upload under way whose run was not told.
func untold(branch, how string) sickness {
	return sickness{branch: branch, flags: []string{"--grace", "60s"}, make: func(w *ward) string {
		w.worker()
		id := w.upload(w.done)
		w.exec(`UPDATE uploads SET status = 'processing', finished_at = NULL, `+how+` WHERE id = $1`, id)
		return fmt.Sprintf("upload %s (processing): waits to be told since", id)
	}}
}

func late(branch string, seq int, values string) sickness {
	return sickness{branch: branch, flags: []string{"--grace", "60s"}, make: func(w *ward) string {
		w.worker()
		w.exec(`INSERT INTO outbox (topic, task_id, seq, created_at, next_attempt_at, attempts, priority) VALUES ('task_event', $1, $2, `+values+`)`, w.done, seq)
		return fmt.Sprintf("task %d event %d: waits since", w.done, seq)
	}}
}
