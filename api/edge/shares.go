package edge

import (
	"hash/maphash"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// shares tell which program had how much of a line's places lately, so that in an
// overload those come first who had least: whoever asks again at once gets no more than
// who waits as told, and one organization's programs keep no other's out (fair queueing
// by flows, after McKenney, "Stochastic Fairness Queueing", INFOCOM 1990).
//
// A request stands in line before anybody has looked up its key. So a key that was found
// to be good once has a share of its own, and all others have one together: who makes up
// keys comes before nobody for that.
//
// Without shares (nil) nobody had anything, nor has a person ever. They are safe for
// everybody at once.
type shares struct {
	mu       sync.Mutex
	known    *simplelru.LRU[caller, *share]
	stranger share
	told     [toldCount]time.Duration // by caller: when they last heard that they are refused
}

const (
	// knownMost bounds the programs that have a share of their own: those that had a place
	// last. It takes good keys to use it up, and who is forgotten is a stranger once.
	knownMost = 4096
	// toldCount is in how many parts callers are told: two in one of them are told as one.
	toldCount = 4096
	// shareHalf is after how long half of what somebody had is forgotten.
	shareHalf = time.Second
)

func newShares() *shares {
	known, _ := simplelru.NewLRU[caller, *share](knownMost, nil) // fails for sizes below 1 only
	return &shares{known: known}
}

// atOnce is how soon after a refusal somebody asks again who does not wait as told. Who
// has many calls at a time, as they may, cannot be told from these: when one is refused,
// the others hear of theirs later, too, by some milliseconds.
const atOnce = 50 * time.Millisecond

// again reports whether a caller has just heard that they are refused.
func (s *shares) again(c caller, at time.Duration) bool {
	if !s.counts(c) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told[c%toldCount]
	return told > 0 && at-told < atOnce
}

// tell notes that a caller hears that they are refused.
func (s *shares) tell(c caller, at time.Duration) {
	if !s.counts(c) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[c%toldCount] = at
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

// caller is who a request says that it is from: its key, hashed.
type caller uint64

var callerSeed = maphash.MakeSeed()

// person is every caller among people: nobody asks for their shares. No key is taken for
// one but by a chance of one in 2^64.
const person caller = math.MaxUint64

// counts reports whether anybody asks what the caller had.
func (s *shares) counts(c caller) bool { return s != nil && c != person }

// callerOf is the same for all requests that would be found to have the same key, and
// for all that cannot be found to have one.
func callerOf(h http.Header) caller {
	key, _ := KeyOf(h)
	return caller(maphash.String(callerSeed, key))
}

// of is how much a caller had lately.
func (s *shares) of(c caller, at time.Duration) float64 {
	if !s.counts(c) {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, known := s.known.Peek(c); known {
		return own.now(at)
	}
	return s.stranger.now(at)
}

// charge notes that a caller has had a place from one time to another, and whether their
// key was found to be good. One that was stays known where nobody could say. Who came as a
// stranger is charged as one, too: otherwise who has more keys than are known would be new
// each time.
func (s *shares) charge(c caller, good bool, from, to time.Duration) {
	if !s.counts(c) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own, known := s.known.Get(c)
	if !known {
		s.stranger.add(to, to-from)
		if !good {
			return
		}
		own = &share{}
		s.known.Add(c, own)
	}
	own.add(to, to-from)
}
