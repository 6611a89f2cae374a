package store

import "math"

// How many a list has at most that is answered at once, without pages. They bound the
// memory of an answer, and the answer does not tell that it was cut: so each is far above
// what a person or an organization has. What still works is listed rather than what is
// over, for people must see it to end it.
const (
	// MaxSessions is of one person. Ending all others ends those that are not listed, too.
	MaxSessions = 1000
	// MaxKeys is of one organization, with its revoked keys, which are kept for good.
	MaxKeys = 1000
	// MaxVersions is of one pipeline: one published every day for almost three years.
	MaxVersions = 1000
	// MaxClaims is of one person, who works on one thing at a time.
	MaxClaims = 1000
)

// What is listed of an upload whose page asks for it every few seconds: what one look
// costs must not grow with the archive. The upload's counts tell how many there are.
const (
	// MaxShownTasks is twice what the page shows.
	MaxShownTasks = 100
	// MaxShownErrors is ten of the page's tables. Once the upload has ended nobody asks
	// again and again, and the file of errors that people download shall have MaxUploadErrors.
	MaxShownErrors = 250
)

// noBound is a LIMIT that leaves nothing out: no list has so many.
const noBound = math.MaxInt32
