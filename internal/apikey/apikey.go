// Package apikey knows what an API key looks like, what of it is stored, and
// until when it lasts (spec sections 2 and 5). It is pure: randomness and the
// time are parameters.
package apikey

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// Prefix begins every key, so that secret scanners and people recognise one.
const Prefix = "pk_live_"

const (
	randomBytes = 20 // 160 bits
	hexDigits   = 2 * randomBytes
	shownDigits = 4
)

// Length is the number of characters of a key.
const Length = len(Prefix) + hexDigits

// Generate makes a new key from r, which must be cryptographically random.
func Generate(r io.Reader) (string, error) {
	var b [randomBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return Prefix + hex.EncodeToString(b[:]), nil
}

// Valid reports whether value has the form of a key: the prefix and 40 lower
// case hexadecimal digits. It says nothing about whether such a key exists.
func Valid(value string) bool {
	digits, ok := strings.CutPrefix(value, Prefix)
	if !ok || len(digits) != hexDigits {
		return false
	}
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Hash is what is stored of a key. A fast hash is right here: 160 random bits
// cannot be guessed, whatever a guess costs.
func Hash(value string) [sha256.Size]byte { return sha256.Sum256([]byte(value)) }

// Last4 is what people see of a key after its creation.
func Last4(value string) string { return value[max(0, len(value)-shownDigits):] }
