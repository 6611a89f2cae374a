package arrival

import "time"

// WorkingDay is how long the day is whose shape Day has.
const WorkingDay = 8 * time.Hour

// hours is how busy each hour of the day is, as a share of the mean: people
// come within half an hour, a quiet lunch, the busiest hour in the afternoon.
var hours = [8]float64{0.9, 1.1, 1.2, 0.8, 0.5, 1.2, 1.5, 0.8}

// Day is the shape of eight hours within a time, with the mean 1. DayMost is
// its highest value.
func Day(length time.Duration) Rate {
	return func(since time.Duration) float64 {
		if since < 0 || since >= length {
			return 0
		}
		return hours[int(float64(len(hours))*float64(since)/float64(length))]
	}
}

// DayMost is the busiest hour.
const DayMost = 1.5
