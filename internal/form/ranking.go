package form

import "slices"

// rankingKind is ranking: every item once, best first: ["b","a"]. With allow_ties, an element may be a group of
// equals: [["b"],["a","c"]]; bare items and groups mix. The items are static, or the texts in the list, multi_select
// or ranking field called source; equal texts there count once. Texts are compared after CRLF became LF, as they are
// kept. Where the source is not known yet, as when a task is created before the list is filled, only the shape is
// checked.
type rankingKind struct {
	items  []string
	source string
	ties   bool
}

func newRanking(f *Field) kind {
	k := rankingKind{source: f.Source, ties: f.AllowTies}
	for _, item := range f.Items {
		k.items = append(k.items, NormalizeText(item.Value))
	}
	return k
}

// rankable are the types whose values can be the items of a ranking.
var rankable = []Type{List, MultiSelect, Ranking}

func (k rankingKind) check(v *value, c *check) {
	if v.shape != array {
		c.expect("an array of item ids, best first", v)
		return
	}
	items, known := k.itemsOf(c.find)
	missing := make(map[string]bool, len(items))
	for _, item := range items {
		missing[item] = true
	}
	seen := make(map[string]bool, len(items))
	visit := func(x *value, at *check) {
		id := NormalizeText(x.text)
		switch {
		case x.shape != text:
			at.expect("an item id", x)
		case seen[id]:
			at.fail("%s is ranked twice", quote(id))
		case known && !missing[id]:
			at.fail("%s is not an item; expected %s", quote(id), list(items))
		default:
			seen[id] = true
		}
	}
	for i := range v.items {
		x, at := &v.items[i], c.item(i)
		switch {
		case c.full():
			return
		case x.shape != array:
			visit(x, at)
		case !k.ties:
			at.fail("ties are not allowed: expected an item id, got an array")
		case len(x.items) == 0:
			at.fail("a group of equals must not be empty")
		default:
			for j := range x.items {
				visit(&x.items[j], at.item(j))
			}
		}
	}
	for _, item := range items {
		if !seen[item] {
			c.fail("item %s is not ranked", quote(item))
		}
	}
}

// itemsOf returns the items and whether they are known.
func (k rankingKind) itemsOf(find lookup) ([]string, bool) {
	if k.source == "" {
		return k.items, true
	}
	source, known := find(k.source)
	var items []string
	seen := map[string]bool{}
	for i := range source.items {
		group := []value{source.items[i]}
		if group[0].shape == array {
			group = group[0].items
		}
		for _, x := range group {
			item := NormalizeText(x.text)
			if x.shape == text && !seen[item] {
				seen[item] = true
				items = append(items, item)
			}
		}
	}
	return items, known
}

func (k rankingKind) define(d *definition) {
	f := d.field
	switch {
	case f.Source != "" && len(f.Items) > 0:
		d.fail("/source", "a ranking has either items or a source")
	case f.Source != "":
		source, ok := d.refer("/source", f.Source)
		switch {
		case !ok:
		case !slices.Contains(rankable, source.Type):
			d.fail("/source", "the source of a ranking is a list, multi_select or ranking, but %s is a %s", quote(f.Source), source.Type)
		case slices.Contains([]Type{Boolean, Number, Integer, Rating}, source.ItemType):
			d.fail("/source", "the items to rank are texts, but %s is a list of %s", quote(f.Source), source.ItemType)
		}
	default:
		d.options("/items", "item", f.Items, 2, maxRankItems)
	}
}

func (k rankingKind) hint() any {
	if k.source != "" || k.ties {
		return "array of item ids"
	}
	return slices.Clone(k.items)
}

func (k rankingKind) schema() fragment {
	item := fragment{"type": "string"}
	if k.source == "" {
		item["enum"] = k.items
	}
	s := fragment{"type": "array", "items": item}
	if k.ties {
		s["items"] = fragment{"anyOf": []any{item, fragment{"type": "array", "items": item, "minItems": 1}}}
	} else {
		s["uniqueItems"] = true
		if k.source == "" {
			s["minItems"], s["maxItems"] = len(k.items), len(k.items)
		}
	}
	return s
}

// pointless reports that there is nothing to rank.
func (k rankingKind) pointless(find lookup) bool {
	items, known := k.itemsOf(find)
	return known && len(items) == 0
}

func (k rankingKind) example(known lookup) any {
	if items, ok := k.itemsOf(known); ok {
		return items
	}
	return []string{"first", "second"}
}
