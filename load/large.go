package main

import (
	"encoding/json"
	"strings"
	"sync/atomic"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

const (
	// largeBody is how long the JSON of a large form is: one of largeEvery subtasks is
	// handed in with one, and one of as many verdicts given.
	largeBody, largeEvery = 32 << 10, 10
	// mostRemark is how long a reviewer's comment may be.
	mostRemark = 4000
	// What they are recorded as, besides what they are.
	submitLarge, verdictLarge = "submit-32kb", "verdict-32kb"
)

// large tells whether what is handed in next, of those that the counter is of, is
// large. Fixed turns leave none to chance in a short run. What cost and growth measure
// is compared with what they measured before.
func (r *run) large(n *atomic.Int64) bool {
	if r.script == "cost" || r.script == "growth" {
		return false
	}
	return n.Add(1)%largeEvery == largeEvery/2
}

// words make texts that Postgres has to keep: it compresses one sentence over and over
// to next to nothing.
var words = strings.Fields(`the text says that she sold clips to her friends in April and half as many again in May but it
	does not say whether those which came back are counted or who paid for them so my answer may be too high by a few
	dozen please look at line seven where another number stands beside this one`)

// prose is a text of so many bytes.
func (r *run) prose(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[r.think.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:size]
}

// handedIn is the body of a submission.
func handedIn(v form.Values) []byte { return encode(map[string]any{"values": v}) }

// largeAnswers are those of a contributor who has much to say about what is unclear.
func (r *run) largeAnswers() form.Values {
	v := mathcheck.Answers()
	v["sure"], v["doubt"] = json.RawMessage("false"), encode("")
	v["doubt"] = encode(r.prose(largeBody - len(handedIn(v))))
	return v
}

// remarked is a verdict with as many comments on the work as a whole as make it
// large: a reviewer may correct only what is under review, which is one line.
func (r *run) remarked(verdict map[string]any) []byte {
	comments, _ := verdict["comments"].([]map[string]string)
	for left := largeBody; left > mostRemark; {
		remark := map[string]string{"text": ""}
		comments = append(comments, remark)
		verdict["comments"] = comments
		left = largeBody - len(encode(verdict))
		remark["text"] = r.prose(min(left, mostRemark))
	}
	return encode(verdict)
}
