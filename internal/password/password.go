// Package password hashes and checks passwords with argon2id. Each hash takes
// 19 MiB, so at most as many run at a time as there are processors: a flood of
// logins waits instead of exhausting the memory.
package password

import (
	"context"
	"fmt"
	"runtime"
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

// slots is process-wide because the memory that it bounds is.
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

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

// acquire waits for a free slot.
func acquire(ctx context.Context) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to hash password: %w", ctx.Err())
	}
}
