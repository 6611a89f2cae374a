// Package cursor makes the page cursors of list endpoints: opaque to callers,
// versioned, and bound by a MAC to the list that they were made for, so that a
// cursor works neither in another pipeline or organization nor under another
// filter. It is pure.
package cursor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// Scope is the list that a cursor belongs to. Every part of it goes into the
// MAC; none of it stands in the cursor.
type Scope struct {
	OrgID, PipelineID int64
	// Filter is everything else that decides what the list holds, in one
	// canonical text.
	Filter string
}

// ErrMalformed says that a cursor was not made by this codec for this scope.
var ErrMalformed = errors.New("the cursor does not belong to this list")

// The layout before base64url: version, id of the last row, MAC.
const (
	version  = 1
	idBytes  = 8
	macBytes = 16
	size     = 1 + idBytes + macBytes
)

// Length is the number of characters of a cursor.
var Length = encoding.EncodedLen(size)

// encoding refuses stray trailing bits, so that a page has one cursor only.
var encoding = base64.RawURLEncoding.Strict()

// Codec makes and reads cursors. It is safe for concurrent use.
type Codec struct{ key [sha256.Size]byte }

// New makes a codec whose key is derived from the deployment's secret.
func New(secret []byte) Codec {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("taskloom list cursor"))
	return Codec{key: [sha256.Size]byte(mac.Sum(nil))}
}

// Encode returns the cursor of the page that follows the row lastID.
func (c Codec) Encode(s Scope, lastID int64) string {
	b := make([]byte, 0, size)
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, uint64(lastID)) //nolint:gosec // read back as written
	return encoding.EncodeToString(append(b, c.mac(s, b)...))
}

// Decode returns the id of the row that the cursor's page follows, or
// ErrMalformed.
func (c Codec) Decode(s Scope, text string) (lastID int64, err error) {
	if len(text) != Length {
		return 0, ErrMalformed
	}
	b, err := encoding.DecodeString(text)
	if err != nil || len(b) != size || b[0] != version {
		return 0, ErrMalformed
	}
	body, mac := b[:1+idBytes], b[1+idBytes:]
	if !hmac.Equal(mac, c.mac(s, body)) {
		return 0, ErrMalformed
	}
	lastID = int64(binary.BigEndian.Uint64(body[1:])) //nolint:gosec // written from an int64
	if lastID < 1 {
		return 0, ErrMalformed
	}
	return lastID, nil
}

// mac covers the cursor and the scope. Only the filter varies in length and it
// comes last, so no two scopes share an input.
func (c Codec) mac(s Scope, body []byte) []byte {
	in := make([]byte, 0, len(body)+2*idBytes+len(s.Filter))
	in = append(in, body...)
	in = binary.BigEndian.AppendUint64(in, uint64(s.OrgID))      //nolint:gosec // only compared
	in = binary.BigEndian.AppendUint64(in, uint64(s.PipelineID)) //nolint:gosec // only compared
	in = append(in, s.Filter...)
	mac := hmac.New(sha256.New, c.key[:])
	mac.Write(in)
	return mac.Sum(nil)[:macBytes]
}
