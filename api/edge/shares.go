package edge

import (
	"hash/maphash"
	"math"
	"net/http"
	"sync"
	"time"
)

// shares tell who had how much of a line's places lately, so that in an overload those
// come first who had least: whoever asks again at once gets no more than who waits as
// told, and one organization's programs keep no other's out (fair queueing by hashed
// flows, after McKenney, "Stochastic Fairness Queueing", INFOCOM 1990).
//
// A request stands in line before anybody has looked up its key. So what it says of
// itself is remembered with who that was found to be. Those of whom nothing is known
// have one share together: who makes up keys comes before nobody for that.
//
// Callers whose hashes are the same have one share: of a hundred callers at a time one
// in forty is treated as another one is. Without shares (nil) nobody had anything. They
// are safe for everybody at once.
type shares struct {
	mu       sync.Mutex
	named    [shareCount]uint16 // by caller: which of known, 0 where it is not known
	known    [shareCount]share  // by owner
	stranger share
	told     [shareCount]time.Duration // by caller: when they last heard that they are refused
}

const (
	shareCount = 4096
	// shareHalf is after how long half of what somebody had is forgotten.
	shareHalf = time.Second
)

// atOnce is how soon after a refusal somebody asks again who does not wait as told. Who
// has many calls at a time, as they may, cannot be told from these: when one is refused,
// the others hear of theirs later, too, by some milliseconds.
const atOnce = 50 * time.Millisecond

// again reports whether a caller has just heard that they are refused.
func (s *shares) again(c caller, at time.Duration) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[c] > 0 && at-s.told[c] < atOnce
}

// tell notes that a caller hears that they are refused.
func (s *shares) tell(c caller, at time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[c] = at
}

// share is how long somebody had places, as of a time of the line.
type share struct {
	had float64 // in seconds
	at  time.Duration
}

func (s *share) now(at time.Duration) float64 {
	if at <= s.at {
		return s.had
	}
	return s.had * math.Exp2(-float64(at-s.at)/float64(shareHalf))
}

func (s *share) add(at, had time.Duration) { s.had, s.at = s.now(at)+had.Seconds(), max(at, s.at) }

// caller is what a request says of itself, hashed.
type caller uint16

var callerSeed = maphash.MakeSeed()

// callerOf is who a request says that it comes from: the same for all that carry the
// same credentials.
func callerOf(h http.Header) caller {
	var m maphash.Hash
	m.SetSeed(callerSeed)
	for _, name := range [...]string{"Authorization", "X-Api-Key", "Cookie"} {
		for _, v := range h[name] {
			_, _ = m.WriteString(v)
			_ = m.WriteByte(0)
		}
	}
	return caller(m.Sum64() % shareCount)
}

// shareOf is which share is an owner's: any but the first.
func shareOf(owner string) uint16 {
	return uint16(1 + maphash.String(callerSeed, owner)%(shareCount-1))
}

// of is how much a caller had lately.
func (s *shares) of(c caller, at time.Duration) float64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner := s.named[c]; owner != 0 {
		return s.known[owner].now(at)
	}
	return s.stranger.now(at)
}

// charge notes that a caller has had a place from one time to another, and who it was
// found to be, "" where nobody could say: then it is who it was before. Who came as a
// stranger is charged as one, too: otherwise who calls themselves something else each time
// would be new each time.
func (s *shares) charge(c caller, owner string, from, to time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named[c] == 0 {
		s.stranger.add(to, to-from)
	}
	if owner != "" {
		s.named[c] = shareOf(owner)
	}
	if named := s.named[c]; named != 0 {
		s.known[named].add(to, to-from)
	}
}
