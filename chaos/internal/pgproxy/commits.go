package pgproxy

import "regexp"

// writeWords are the statements that change something, also inside WITH. They
// may stand in a comment or a name: then a read counts as a write, which makes
// the client repeat a read.
var writeWords = regexp.MustCompile(`(?i)\b(insert\s+into|update|delete\s+from|merge\s+into|copy)\b`)

// endWords end a transaction so that it counts.
var endWords = regexp.MustCompile(`(?i)^\s*(commit|end)\b`)

// beginWords open one, so that what follows in the same message does not
// commit by itself.
var beginWords = regexp.MustCompile(`(?i)^\s*(begin|start\s+transaction)\b`)

// rowLock is a lock that reads take, which says "update" and writes nothing.
var rowLock = regexp.MustCompile(`(?i)\bfor\s+(no\s+key\s+)?update\b`)

// Writes reports whether a statement changes something.
func Writes(sql string) bool {
	return writeWords.MatchString(rowLock.ReplaceAllString(sql, ""))
}

// commits reports whether a message of the simple protocol makes the server
// commit something, given the state of its transaction.
func commits(sql string, status byte) bool {
	switch status {
	case 'T':
		return endWords.MatchString(sql)
	case 'I':
		return Writes(sql) && !beginWords.MatchString(sql)
	}
	return false // a failed transaction only rolls back
}
