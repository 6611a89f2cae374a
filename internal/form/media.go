package form

// mediaKind is image, audio, video and pdf, which a form shows: {"url": "https://…"} or {"file_id": "…"}, one of the
// two. The url is https or http; a bare string is not accepted.
type mediaKind struct{ what Type }

func (k mediaKind) check(v *value, c *check) {
	if !c.object(v, "url", "file_id") {
		return
	}
	link, _ := v.get("url")
	id, _ := v.get("file_id")
	switch {
	case (link.shape == null) == (id.shape == null):
		c.fail("expected either url or file_id")
	case link.shape != null:
		urlKind{schemes: defaultSchemes}.check(&link, c.at("url"))
	default:
		label(v, "file_id", maxFileIDChars, c)
	}
}

func (mediaKind) define(*definition) {}

func (k mediaKind) hint() any { return "object: url or file_id of " + k.noun() }

func (k mediaKind) noun() string {
	if k.what == Image || k.what == Audio {
		return "an " + string(k.what) + " file"
	}
	return "a " + string(k.what) + " file"
}

func (k mediaKind) schema() fragment {
	one := func(key, format string) fragment {
		s := fragment{"type": "string", "minLength": 1}
		if format != "" {
			s["format"] = format
		}
		return fragment{"properties": fragment{key: s}, "required": []string{key}, "additionalProperties": false}
	}
	return fragment{"type": "object", "oneOf": []any{one("url", "uri"), one("file_id", "")}}
}

func (k mediaKind) example(lookup) any {
	ext := map[Type]string{Image: "png", Audio: "mp3", Video: "mp4", PDF: "pdf"}[k.what]
	return map[string]string{"url": "https://example.com/example." + ext}
}

// contentKind is static_content: its value stands in the definition, a JSON string of Markdown.
type contentKind struct{}

func (contentKind) check(v *value, c *check) {
	if v.shape != text {
		c.expect("a Markdown text", v)
	}
}
func (contentKind) define(*definition) {}
func (contentKind) hint() any          { return "markdown" }
func (contentKind) schema() fragment   { return fragment{"type": "string"} }
func (contentKind) example(lookup) any { return "Example" }
