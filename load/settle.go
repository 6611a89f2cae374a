package main

import "time"

// never stands for a time that did not come.
const never = -time.Second

// settled is how long everything must be well for it to count: what is well for
// a moment only is still on its way.
const settled = 20 * time.Second

// settledAfter is the time from a moment until everything was well: the first
// one from which, for 20 s, every stretch of five seconds has at least 95 of 100
// requests inside their objectives. What happens after that is no matter of what
// was before the moment. It is never when there was none.
func settledAfter(seen []observation, from time.Time) time.Duration {
	return calmAfter(seen, from, 5*time.Second)
}

// calmAfter is settledAfter for stretches of any length that divides 20 s. A
// stretch of which nothing is known is not well.
func calmAfter(seen []observation, from time.Time, stretch time.Duration) time.Duration {
	const share = 0.95
	good, all := map[int]int{}, map[int]int{}
	last := -1
	for _, o := range seen {
		if o.at.Before(from) {
			continue
		}
		i := int(o.at.Sub(from) / stretch)
		last = max(last, i)
		all[i]++
		if o.good {
			good[i]++
		}
	}
	enough, row := int(settled/stretch), 0
	for i := range last + 1 {
		if row++; all[i] == 0 || float64(good[i]) < share*float64(all[i]) {
			row = 0
		}
		if row == enough {
			return time.Duration(i+1-enough) * stretch
		}
	}
	return never
}
