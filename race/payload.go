package main

import (
	"fmt"
	"strings"
)

const (
	// mostPerRequest is the largest batch that Taskloom's API takes.
	mostPerRequest = 5000
	// itemFrame is what the frame of an item adds to its text.
	itemFrame = 40
)

// text is a text of a size that is different for each number.
func text(number, size int) string {
	const words = "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. "
	s := fmt.Sprintf("Problem %d. ", number) + strings.Repeat(words, size/len(words)+1)
	return s[:size]
}

// itemJSON is the payload of one item of a size, the same for every system.
func itemJSON(number, size int) []byte {
	return fmt.Appendf(nil, `{"question":%q}`, text(number, max(1, size-itemFrame)))
}

// createBody is Taskloom's request for n tasks of a size each.
func createBody(n, size int) []byte {
	var b strings.Builder
	b.Grow(n * (size + itemFrame))
	b.WriteString(`{"tasks":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"fields":`)
		b.Write(itemJSON(i, size))
		b.WriteString(`}`)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}
