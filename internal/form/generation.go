package form

import (
	"regexp"
	"slices"
	"strconv"
)

// slot is a reference to a value in a prompt: {{name}}, white space around the name allowed.
var slot = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

var toolName = regexp.MustCompile(`\A[a-zA-Z0-9_-]{1,64}\z`)

// Names returns the names that the prompt refers to as {{name}}, each once, in order of appearance. Other text in
// double braces is left alone.
func (g *Generation) Names() []string {
	var names []string
	for _, m := range slot.FindAllStringSubmatch(g.Prompt, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// Render returns the prompt with every {{name}} replaced by what text returns for it. What text returns is not
// looked at again.
func (g *Generation) Render(text func(name string) string) string {
	return slot.ReplaceAllStringFunc(g.Prompt, func(s string) string { return text(slot.FindStringSubmatch(s)[1]) })
}

// generation checks the llm part of a definition.
func (d *definition) generation() {
	g := d.field.LLM
	switch {
	case g == nil && d.field.Input == LLM:
		d.fail("/llm", "a field whose input is llm needs llm with a model and a prompt")
		return
	case g == nil:
		return
	case d.field.Input != LLM:
		d.fail("/llm", "llm is for fields whose input is llm, got %s", d.field.Input)
		return
	}
	if blank(g.Model) {
		d.fail("/llm/model", "model is missing; expected the alias of a model")
	}
	if blank(g.Prompt) {
		d.fail("/llm/prompt", "prompt is missing")
	}
	d.length("/llm/model", "model", g.Model, maxTitleChars)
	d.length("/llm/prompt", "prompt", g.Prompt, maxPromptChars)
	d.length("/llm/prompt_name", "prompt_name", g.PromptName, maxTitleChars)
	d.distinct("/llm/context", "field", g.Context, maxContext)
	for i, name := range g.Context[:min(len(g.Context), maxContext)] {
		d.refer("/llm/context/"+strconv.Itoa(i), name)
	}
	for _, name := range g.Names() {
		if !slices.Contains(g.Context, name) {
			d.fail("/llm/prompt", "{{%s}} is not in context; expected %s", clip(name), orNone(g.Context))
		}
	}
	d.tools(g.Tools)
}

// clip shortens a name to what a message may quote.
func clip(s string) string {
	q := quote(s)
	return q[1 : len(q)-1]
}

func (d *definition) tools(tools []Tool) {
	if len(tools) > maxTools {
		d.fail("/llm/tools", "at most %d tools allowed, got %d", maxTools, len(tools))
		return
	}
	seen := map[string]bool{}
	for i, tool := range tools {
		at := "/llm/tools/" + strconv.Itoa(i)
		if !toolName.MatchString(tool.Name) || seen[tool.Name] {
			d.fail(at+"/name", "a tool needs a name of its own, of 1 to 64 letters, digits, _ and -, got %s", quote(tool.Name))
		}
		seen[tool.Name] = true
		d.length(at+"/description", "description", tool.Description, maxDescriptionChars)
		if len(tool.Parameters) > 0 && !isObject(tool.Parameters) {
			d.fail(at+"/parameters", "parameters must be a JSON Schema object, got %s", quote(string(tool.Parameters)))
		}
	}
}
