package alerttest

import (
	"bufio"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Scrape is what the processes told at one time: the value of each series, as
// text, by its name with its labels.
type Scrape map[string]string

// sample is a line of Prometheus' text format.
var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)

// Add reads what a process tells, as a scrape job would label it, and returns
// the types by name. A process that does not answer tells nothing.
func (s Scrape) Add(t testing.TB, instance, addr string) (types map[string]string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", http.NoBody)
	require.NoError(t, err)
	c := http.Client{Timeout: 10 * time.Second}
	res, err := c.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	types = map[string]string{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if kind, ok := strings.CutPrefix(lines.Text(), "# TYPE "); ok {
			name, of, _ := strings.Cut(kind, " ")
			types[name] = of
		}
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		labels := fmt.Sprintf(`job="taskloom",instance=%q`, instance)
		if m[2] != "" {
			labels += "," + m[2]
		}
		s[m[1]+"{"+labels+"}"] = m[3]
	}
	return types
}

// Value is the largest value of the series that begin so, after their job and
// instance; ok is false when there is none.
func (s Scrape) Value(name, labels string) (largest float64, ok bool) {
	for series, text := range s {
		if !strings.HasPrefix(series, name+"{") || !strings.Contains(series, labels) {
			continue
		}
		var v float64
		if _, err := fmt.Sscan(text, &v); err == nil && (!ok || v > largest) {
			largest, ok = v, true
		}
	}
	return largest, ok
}

// Sum is that of the series that Value takes the largest of.
func (s Scrape) Sum(name, labels string) (sum float64) {
	for series, text := range s {
		var v float64
		if _, err := fmt.Sscan(text, &v); err == nil && strings.HasPrefix(series, name+"{") && strings.Contains(series, labels) {
			sum += v
		}
	}
	return sum
}
