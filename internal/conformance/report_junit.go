package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

type junitSuite struct {
	XMLName   xml.Name    `xml:"testsuite"`
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report for CI systems, which know this form best.
func (r Report) JUnit(w io.Writer) error {
	s := junitSuite{
		Name: "conformance of " + r.Target, Tests: len(r.Results), Failures: r.Count(Failed), Skipped: r.Count(Skipped),
		Time: seconds(r.Took), Timestamp: r.Began.Format("2006-01-02T15:04:05"),
	}
	for _, result := range r.Results {
		tc := junitCase{Class: "conformance." + result.Section, Name: result.ID, Time: seconds(result.Took)}
		switch {
		case result.Failure != nil:
			f := result.Failure
			tc.Failure = &junitText{Message: fmt.Sprintf("expected %s, got %s", f.Expected, f.Got), Text: result.Sentence + "\n" + result.Does}
			if e := f.Exchange; e != nil {
				tc.Failure.Text += fmt.Sprintf("\n%s\n%d, X-Request-Id %s\n%s", e.Request, e.Status, orNone(e.RequestID), e.Body)
			}
		case result.Outcome == Skipped:
			tc.Skipped = &junitText{Message: result.Reason}
		}
		s.Cases = append(s.Cases, tc)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
