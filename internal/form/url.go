package form

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxURLChars is the longest url.
const maxURLChars = 2048

var (
	defaultSchemes = []string{"https", "http"}
	// runnable schemes run code or read local files when a person opens them; no definition may allow them.
	runnableSchemes = []string{"javascript", "vbscript", "data", "file", "blob", "about", "filesystem"}
)

// urlKind is url: an absolute URL with a host, of an allowed scheme, without user and password, white space and
// backslashes. Hosts may be limited to names and, as "*.example.com", to the names below one.
type urlKind struct{ schemes, hosts []string }

func newURL(f *Field) kind {
	k := urlKind{f.Schemes, f.Hosts}
	if len(k.schemes) == 0 {
		k.schemes = defaultSchemes
	}
	return k
}

func (k urlKind) check(v *value, c *check) {
	if v.shape != text {
		c.expect("a URL", v)
		return
	}
	u, fault := parseURL(v.text)
	switch {
	case fault != "":
		c.fail("%s is not a URL that can be used: it %s", quote(v.text), fault)
	case !oneOf(u.Scheme, k.schemes):
		c.fail("%s has the scheme %s; expected %s", quote(v.text), quote(u.Scheme), list(k.schemes))
	case len(k.hosts) > 0 && !hostAllowed(u.Hostname(), k.hosts):
		c.fail("%s has the host %s; expected %s", quote(v.text), quote(u.Hostname()), list(k.hosts))
	}
}

// parseURL returns the URL, or what is wrong with it.
func parseURL(s string) (*url.URL, string) {
	if n := Count(s).Chars; n > maxURLChars {
		return nil, "has " + strconv.Itoa(n) + " characters, at most " + strconv.Itoa(maxURLChars) + " allowed"
	}
	for _, r := range s {
		if r <= ' ' || r == 0x7F || r == '\\' || isSpace(r) {
			return nil, "holds white space, a control character or a backslash"
		}
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, "cannot be parsed"
	case u.Scheme == "":
		return nil, "has no scheme such as https:"
	case u.Hostname() == "":
		return nil, "has no host"
	case u.User != nil:
		return nil, "carries a user name or password"
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return nil, "has a port that is not 0 to 65535"
		}
	}
	return u, ""
}

func hostAllowed(host string, hosts []string) bool {
	host = strings.ToLower(host)
	for _, h := range hosts {
		if below, ok := strings.CutPrefix(h, "*"); ok && strings.HasSuffix(host, below) || host == h {
			return true
		}
	}
	return false
}

func (k urlKind) define(d *definition) {
	defineSchemes(d, d.field.Schemes)
	d.distinct("/hosts", "host", d.field.Hosts, maxHosts)
	for i, h := range d.field.Hosts {
		name := strings.TrimPrefix(h, "*.")
		if name == "" || h != strings.ToLower(h) || strings.ContainsAny(name, "*/:@ \\") {
			d.fail("/hosts/"+strconv.Itoa(i), `a host is a lower-case name such as "example.com" or "*.example.com", got %s`, quote(h))
		}
	}
}

func defineSchemes(d *definition, schemes []string) {
	d.distinct("/schemes", "scheme", schemes, maxSchemes)
	for i, s := range schemes {
		at := "/schemes/" + strconv.Itoa(i)
		u, err := url.Parse(s + "://h")
		switch {
		case err != nil || u.Scheme != s || s == "":
			d.fail(at, `a scheme is lower-case such as "https", without a colon, got %s`, quote(s))
		case slices.Contains(runnableSchemes, s):
			d.fail(at, "the scheme %s cannot be allowed, since opening it may run code or read local files", s)
		}
	}
}

func (k urlKind) hint() any {
	s := "url " + strings.Join(k.schemes, " or ")
	if len(k.hosts) > 0 {
		s += ", at " + strings.Join(k.hosts, " or ")
	}
	return s
}

func (k urlKind) schema() fragment {
	return fragment{"type": "string", "format": "uri", "maxLength": maxURLChars}
}

func (k urlKind) example(lookup) any {
	host := "example.com"
	if len(k.hosts) > 0 {
		host = strings.Replace(k.hosts[0], "*", "www", 1)
	}
	return k.schemes[0] + "://" + host + "/"
}
