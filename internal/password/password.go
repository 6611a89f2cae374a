// Package password hashes and checks passwords with argon2id. Each hash takes
// 19 MiB and a processor, so fewer run at a time than there are processors, where
// there are several: a flood of logins waits for a moment, and is refused then,
// instead of exhausting the memory or keeping all others from their work.
package password

import (
	"context"
	"fmt"
	"runtime"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/taskloom/taskloom/internal/fault"
)

// Policy of new passwords. There are no rules of composition: length is what
// makes a password hard to guess.
const (
	MinLength = 12
	MaxLength = 1000
)

// params are OWASP's: 19 MiB, two passes, one lane.
var params = &argon2id.Params{Memory: 19456, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// slots is process-wide because the memory that it bounds is. One processor is for
// everybody else.
var slots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

// patience is how long somebody waits for a slot: a hundred people who come to work
// together are let in, one after the other. Whoever floods does not make others wait
// without end.
const patience = 5 * time.Second

// unknown is what Check compares with when there is no such user, so that the
// answer takes as long as for one that exists. Nobody knows a password for it.
const unknown = "$argon2id$v=19$m=19456,t=2,p=1$" +
	"dGFza2xvb20gbm9ib2R5IQ$3Zq0zY0yqkQ2m3oVtqH8mQz6bqf1b0k3jv9b2H1x5cE"

// Problem tells what keeps plain from being a password, "" when nothing does.
func Problem(plain string) string {
	switch n := utf8.RuneCountInString(plain); {
	case !utf8.ValidString(plain):
		return "the password is not valid UTF-8 text"
	case n < MinLength:
		return fmt.Sprintf("the password has %d characters; it needs at least %d", n, MinLength)
	case n > MaxLength:
		return fmt.Sprintf("the password has %d characters; at most %d are allowed", n, MaxLength)
	}
	return ""
}

// Hash returns the PHC string of a password that fits the policy.
func Hash(ctx context.Context, plain string) (string, error) {
	if p := Problem(plain); p != "" {
		return "", fault.New(fault.Validation, "%s", p)
	}
	release, err := acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	hash, err := argon2id.CreateHash(plain, params)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

// Check reports whether plain is the password behind hash, and whether the
// hash was made with other parameters than today's, so that the caller stores
// a new one. An empty hash means that there is no such user: Check does the
// same work and says no.
func Check(ctx context.Context, plain, hash string) (ok, outdated bool, err error) {
	known := hash != ""
	if !known {
		hash = unknown
	}
	if len(plain) > MaxLength*utf8.UTFMax {
		plain = "" // none that long was ever stored
	}
	release, err := acquire(ctx)
	if err != nil {
		return false, false, err
	}
	defer release()
	match, used, err := argon2id.CheckHash(plain, hash)
	if err != nil {
		return false, false, fmt.Errorf("check password: %w", err)
	}
	return match && known, match && *used != *params, nil
}

// acquire waits for a free slot, but not for ever.
func acquire(ctx context.Context) (release func(), err error) {
	inTime, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-inTime.Done():
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("wait to hash password: %w", ctx.Err())
	}
	return nil, fault.New(fault.Unavailable, "too many passwords are checked at a time; try again in a moment").After(time.Second)
}
