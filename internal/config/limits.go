package config

import "github.com/taskloom/taskloom/internal/limit"

// RateLimits are how much of the External API one caller may use: rates such as
// 1200-M, or off.
type RateLimits struct {
	// Key is for each API key, Address for each client address where no key is
	// needed, FailedAuth for what fails to authenticate from each address.
	Key        string `env:"KEY" envDefault:"1200-M"`
	Address    string `env:"ADDRESS" envDefault:"300-M"`
	FailedAuth string `env:"FAILED_AUTH" envDefault:"30-M"`
}

// Rates returns the rates by their buckets.
func (r RateLimits) Rates() limit.Rates {
	rates := limit.Rates{}
	for b, s := range r.settings() {
		rates[b], _ = limit.ParseRate(s.value) // Load has told
	}
	return rates
}

func (r RateLimits) check(p *problems) {
	for _, s := range r.settings() {
		if _, err := limit.ParseRate(s.value); err != nil {
			p.add(s.name, "%s", err)
		}
	}
}

type setting struct{ name, value string }

func (r RateLimits) settings() map[limit.Bucket]setting {
	return map[limit.Bucket]setting{
		limit.Key:        {"RATE_LIMIT_KEY", r.Key},
		limit.Address:    {"RATE_LIMIT_ADDRESS", r.Address},
		limit.FailedAuth: {"RATE_LIMIT_FAILED_AUTH", r.FailedAuth},
	}
}
