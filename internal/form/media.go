package form

// mediaKind is image, audio, video and pdf, which a form shows: {"url": "https://…"}. The url is https or http; a bare
// string is not accepted. Nor is {"file_id": "…"}: no file has an id before its task is there, and a form links the
// files of file_upload fields alone.
type mediaKind struct{ what Type }

func (k mediaKind) check(v *value, c *check) {
	if id, _ := v.get("file_id"); id.shape != null {
		c.at("file_id").fail("%s cannot be shown by the id of a file; expected url, the address of %s", k.what, k.noun())
		return
	}
	keys := []string{"url"}
	if _, sent := v.get("file_id"); sent { // as null
		keys = append(keys, "file_id")
	}
	if !c.object(v, keys...) {
		return
	}
	link, _ := v.get("url")
	if link.shape == null {
		c.fail("expected url, the address of %s", k.noun())
		return
	}
	urlKind{schemes: defaultSchemes}.check(&link, c.at("url"))
}

func (mediaKind) define(*definition) {}

func (k mediaKind) hint() any { return "object: url of " + k.noun() }

func (k mediaKind) noun() string {
	if k.what == Image || k.what == Audio {
		return "an " + string(k.what) + " file"
	}
	return "a " + string(k.what) + " file"
}

func (k mediaKind) schema() fragment {
	return fragment{
		"type": "object", "required": []string{"url"}, "additionalProperties": false,
		"properties": fragment{"url": fragment{"type": "string", "minLength": 1, "format": "uri"}},
	}
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
