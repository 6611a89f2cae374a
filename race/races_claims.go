package main

import (
	"context"
	"fmt"
)

// claimFigures are what is told of a queue.
func claimFigures(o options, p claimPlan) []figure {
	figures := []figure{
		{Name: "free_per_cpu_s", Says: "done per CPU second", Unit: "/CPU-s", More: true, Aim: 0.5, Against: pgBoss.name, CPU: true},
		{Name: "free_per_s", Says: "done per second", Unit: "/s", More: true},
		{Name: "free_claim_p50_ms", Says: "claim p50, as fast as it goes", Unit: "ms"},
		{Name: "free_claim_p99_ms", Says: "claim p99, as fast as it goes", Unit: "ms"},
		{Name: "free_refused", Says: "told to come again, as fast as it goes"},
		{Name: "free_behind_s", Says: "until the runs have caught up with that", Unit: "s"},
	}
	if p.paced > 0 {
		figures = append(figures,
			figure{Name: "paced_claim_p50_ms", Says: fmt.Sprintf("claim p50 at %d/s", o.claimRate), Unit: "ms"},
			figure{Name: "paced_claim_p99_ms", Says: fmt.Sprintf("claim p99 at %d/s", o.claimRate), Unit: "ms", Bound: 50})
	}
	return append(figures, countedFigures...)
}

// heldFigures are what is told of a queue on which a snapshot lies.
func heldFigures(o options) []figure {
	return append([]figure{
		{Name: "held_kept", Says: "left of what is done per CPU second", More: true, Bound: 0.7},
		{Name: "free_per_cpu_s", Says: "done per CPU second, before", Unit: "/CPU-s", More: true},
		{Name: "held_per_cpu_s", Says: "done per CPU second, after", Unit: "/CPU-s", More: true, CPU: true},
		{Name: "free_claim_p50_ms", Says: "claim p50, as fast as it goes, before", Unit: "ms"},
		{Name: "free_claim_p99_ms", Says: "claim p99, as fast as it goes, before", Unit: "ms"},
		{Name: "held_claim_p50_ms", Says: "claim p50, as fast as it goes, after", Unit: "ms"},
		{Name: "held_claim_p99_ms", Says: "claim p99, as fast as it goes, after", Unit: "ms"},
		{Name: "churn_claim_p50_ms", Says: fmt.Sprintf("claim p50 at %d/s meanwhile", o.claimRate), Unit: "ms"},
		{Name: "churn_claim_p99_ms", Says: fmt.Sprintf("claim p99 at %d/s meanwhile", o.claimRate), Unit: "ms"},
	}, countedFigures...)
}

// countedFigures must be none, whoever works.
var countedFigures = []figure{
	{Name: "doubles", Says: "double claims", None: true},
	{Name: "lost", Says: "done, and not in the rows", None: true},
}

// claimsRace is race 1: a long queue, and a short one, for there are systems that
// get slower the more lies ready.
func claimsRace(ctx context.Context, r *room) error {
	for _, clients := range r.clients {
		if err := claimsCompetition(r, clients, r.longPlan(clients)).run(ctx, r); err != nil {
			return err
		}
	}
	if r.shortItems == 0 || r.shortItems >= r.items {
		return nil
	}
	short := *r
	short.items, short.cleanups = r.shortItems, nil
	defer short.close()
	for _, clients := range r.clients {
		if err := claimsCompetition(&short, clients, short.shortPlan(clients)).run(ctx, &short); err != nil {
			return err
		}
	}
	return nil
}

// claimsCompetition is of all queues, and of ours with the bound that it ships with.
func claimsCompetition(r *room, clients int, plan claimPlan) *competition {
	c := &competition{
		race: "claims", title: claimTitle(r.options, clients), figures: claimFigures(r.options, plan), phase: "free",
		curves: []string{"paced_claim"},
	}
	c.addQueues(r, clients, plan, taskloomBounded)
	return c
}

func claimTitle(o options, clients int) string {
	return fmt.Sprintf("claim to submit, %d clients, %d items of %d B ready", clients, o.items, o.payload)
}

// heldRace is what race 1 asks besides: the same once an old snapshot has been
// held for a while of work.
func heldRace(ctx context.Context, r *room) error { return heldCompetition(r).run(ctx, r) }

func heldCompetition(r *room) *competition {
	clients := r.clients[0]
	plan := r.heldPlan(clients)
	c := &competition{
		race: "held", title: fmt.Sprintf("%s, %d/s while a snapshot is held for %s", claimTitle(r.options, clients), r.claimRate, plan.held),
		figures: heldFigures(r.options), phase: "held", curves: []string{"churn_claim"},
	}
	c.addQueues(r, clients, plan)
	return c
}

// addQueues adds everybody who takes part in race 1.
func (c *competition) addQueues(r *room, clients int, plan claimPlan, more ...taskloomKind) {
	var queues []*claimContender
	for _, kind := range append([]taskloomKind{taskloomAlone, taskloomWithRuns}, more...) {
		queues = append(queues, taskloomClaimContender(r.options, clients, kind))
	}
	queues = append(queues, nodeClaimContender(r.options, pgBoss, clients), nodeClaimContender(r.options, graphile, clients),
		riverStatementsContender(clients), riverClaimContender(clients), bareClaimContender(clients))
	for _, q := range queues {
		q.plan = plan
		c.add(r, q)
	}
}
