package pipeline

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

var nodeKey = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,62}\z`)

// node checks what a node says about itself.
func (v *validation) node(i int) {
	n := v.d.Nodes[i]
	switch first := v.shape.at[n.Key]; {
	case !nodeKey.MatchString(n.Key):
		v.atNode(i, "key", "%q is no key; write a lower-case letter, then up to 62 lower-case letters, digits or underscores",
			truncate(n.Key))
	case first != i:
		v.atNode(i, "key", "nodes[%d] has the key %q already; give this one another key", first, n.Key)
	}
	if m := misfit("title", n.Title, MaxTitle); m != "" {
		v.atNode(i, "title", "%s", m)
	}
	if m := misfit("instructions", n.Instructions, MaxInstructions); m != "" {
		v.atNode(i, "instructions", "%s", m)
	}
	v.span(i, "lease", n.Lease, MinLease, MaxLease)
	v.span(i, "sla", n.SLA, MinSLA, MaxSLA)
	v.span(i, "reserve", n.Reserve, 0, MaxReserve)
	switch n.Kind {
	case KindSubtask:
		v.subtask(i)
	case KindReview:
		v.review(i)
	case KindStart, KindEnd:
	default:
		v.atNode(i, "kind", "%q is no kind of node; choose %s, %s, %s or %s",
			truncate(string(n.Kind)), KindStart, KindSubtask, KindReview, KindEnd)
		return
	}
	v.foreign(i)
}

// span checks a time span; 0 stands for the default.
func (v *validation) span(i int, key string, d Duration, least, most time.Duration) {
	if t := time.Duration(d); t != 0 && (t < least || t > most) {
		v.atNode(i, key, "the %s is %s; it must be between %s and %s", key, t, least, most)
	}
}

// foreign refuses what belongs to another kind of node.
func (v *validation) foreign(i int) {
	n := v.d.Nodes[i]
	if n.Kind != KindSubtask && len(n.Fields) > 0 {
		v.atNode(i, "fields", "only a subtask has a form; this is of kind %s, so move its fields", n.Kind)
	}
	if n.Kind == KindReview {
		return
	}
	if len(n.Reviews) > 0 {
		v.atNode(i, "reviews", "only a review reviews; this is of kind %s", n.Kind)
	}
	if n.MaxRework != nil {
		v.atNode(i, "max_rework", "only a review limits rework; this is of kind %s", n.Kind)
	}
	if n.FourEyes {
		v.atNode(i, "four_eyes", "only a review has reviewers; this is of kind %s", n.Kind)
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// misfit tells why a text cannot be stored; "" when it can.
func misfit(what, s string, most int) string {
	if n := utf8.RuneCountInString(s); n > most {
		return fmt.Sprintf("the %s has %d characters; at most %d are allowed", what, n, most)
	}
	if strings.ContainsRune(s, 0) {
		return fmt.Sprintf("the %s holds the character U+0000, which cannot be stored", what)
	}
	return ""
}
