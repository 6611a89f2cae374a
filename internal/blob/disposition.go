package blob

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	anyType = "application/octet-stream"
	noName  = "download"
	// maxName is the length of a name in bytes that every file system takes,
	// with room for the "(1)" that browsers add.
	maxName = 240
)

// contentType is d's type in its standard form, so that nothing but a type gets
// into the header.
func (d Download) contentType() string {
	kind, params, err := mime.ParseMediaType(d.ContentType)
	if err != nil || !strings.Contains(kind, "/") {
		return anyType
	}
	if formatted := mime.FormatMediaType(kind, params); formatted != "" {
		return formatted
	}
	return kind
}

// disposition is the Content-Disposition header (RFC 6266): the name once in
// ASCII and once whole (RFC 8187, formerly 5987).
func (d Download) disposition() string {
	kind := "attachment"
	if d.Inline && passive(d.contentType()) {
		kind = "inline"
	}
	name := safeName(d.Name)
	return kind + `; filename="` + ascii(name) + `"; filename*=UTF-8''` + percentEncode(name)
}

// passive tells whether a browser can show a type without running what is in
// it: SVG, HTML and XML can carry scripts, which would run at the store's
// address.
func passive(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch major, minor, _ := strings.Cut(strings.TrimSpace(kind), "/"); major {
	case "image":
		return !strings.HasPrefix(minor, "svg")
	case "audio", "video":
		return true
	case "text":
		return minor == "plain"
	default:
		return kind == "application/pdf"
	}
}

// safeName takes out of a name what would end the header, lead into another
// folder, or show it in another order than it is written in.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, r == '/', r == '\\', unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return '_'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, name)
	for len(name) > maxName {
		// The end stays: it has the extension.
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	if name = strings.TrimSpace(name); strings.Trim(name, ".") == "" {
		return noName
	}
	return name
}

// ascii is what old clients see of a name.
func ascii(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, name)
}

// percentEncode writes all but RFC 8187's attr-char as %XX.
func percentEncode(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
