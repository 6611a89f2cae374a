package main

import (
	"context"
	"fmt"
)

// claimFigures are what is told of a queue.
func claimFigures(o options) []figure {
	figures := []figure{
		{Name: "free_per_cpu_s", Says: "done per CPU second", Unit: "/CPU-s", More: true, Aim: 0.5, Against: pgBoss.name},
		{Name: "free_per_s", Says: "done per second", Unit: "/s", More: true},
		{Name: "free_claim_p50_ms", Says: "claim p50, as fast as it goes", Unit: "ms"},
		{Name: "free_claim_p99_ms", Says: "claim p99, as fast as it goes", Unit: "ms"},
		{Name: "free_refused", Says: "told to come again, as fast as it goes"},
		{Name: "paced_claim_p50_ms", Says: fmt.Sprintf("claim p50 at %d/s", o.claimRate), Unit: "ms"},
		{Name: "paced_claim_p99_ms", Says: fmt.Sprintf("claim p99 at %d/s", o.claimRate), Unit: "ms", Bound: 50},
	}
	if o.heldChurn > 0 {
		figures = append(figures,
			figure{Name: "held_per_cpu_s", Says: "done per CPU second, snapshot held", Unit: "/CPU-s", More: true},
			figure{Name: "held_kept", Says: "of which is left", More: true, Bound: 0.7},
			figure{Name: "held_claim_p99_ms", Says: "claim p99, snapshot held", Unit: "ms"})
	}
	return append(figures,
		figure{Name: "doubles", Says: "double claims", None: true},
		figure{Name: "lost", Says: "done, and not in the rows", None: true})
}

// claimsRace is race 1.
func claimsRace(ctx context.Context, r *room) error {
	for _, clients := range r.clients {
		c := &competition{
			race: "claims", title: fmt.Sprintf("claim to submit, %d clients, %d items of %d B ready", clients, r.items, r.payload),
			figures: claimFigures(r.options), phase: "free",
		}
		c.add(r, taskloomClaimContender(r.options, clients, false))
		c.add(r, taskloomClaimContender(r.options, clients, true))
		c.add(r, nodeClaimContender(r.options, pgBoss, clients))
		c.add(r, nodeClaimContender(r.options, graphile, clients))
		c.add(r, riverStatementsContender(clients))
		c.add(r, riverClaimContender(clients))
		c.add(r, bareClaimContender(clients))
		if err := c.run(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
