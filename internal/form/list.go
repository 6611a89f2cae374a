package form

import "slices"

// listKind is list: an array of scalars of one type, item_type, short_text unless told. Rules other than min_items,
// max_items and unique apply to each item; an item must not be empty.
type listKind struct {
	item     kind
	itemType Type
	rules    Rules
}

func newList(f *Field, b *Budget) kind {
	item := itemField(f)
	return listKind{item: newKind(&item, b), itemType: item.Type, rules: f.Rules}
}

// itemField is the definition of one item.
func itemField(f *Field) Field {
	item := Field{
		Name: f.Name, Type: f.ItemType, Options: f.Options, AllowOther: f.AllowOther, Scale: f.Scale,
		Schemes: f.Schemes, Hosts: f.Hosts, Unit: f.Unit, Rules: f.Rules,
	}
	item.Rules.MinItems, item.Rules.MaxItems, item.Rules.Unique, item.Rules.EqualsField = nil, nil, false, ""
	switch {
	case f.ItemType == "":
		item.Type = ShortText
	case !f.ItemType.scalar():
		item.Type = "" // a list of lists would nest without end
	}
	return item
}

func (k listKind) check(v *value, c *check) {
	if v.shape != array {
		c.expect("an array", v)
		return
	}
	c.count(len(v.items), k.rules.MinItems, k.rules.MaxItems, "item", "items")
	seen := make(map[string]int, len(v.items))
	for i := range v.items {
		item := &v.items[i]
		switch {
		case c.full():
			return
		case item.empty():
			c.item(i).fail("an item must not be empty")
			continue
		}
		k.item.check(item, c.item(i))
		if !k.rules.Unique {
			continue
		}
		id := identity(item)
		if first, ok := seen[id]; ok {
			c.item(i).fail("%s stands in the list twice, first as item %d", item.show(), first+1)
		} else {
			seen[id] = i
		}
	}
}

// identity is equal for equal scalars.
func identity(v *value) string {
	switch v.shape {
	case number:
		return format(v.num + 0) // -0 is 0
	case text:
		return quoteAll(NormalizeText(v.text))
	case null, boolean, array, object:
	}
	return v.show()
}

// quoteAll keeps texts apart from other values.
func quoteAll(s string) string { return `"` + s }

func (k listKind) define(d *definition) {
	d.bounds("items", k.rules.MinItems, k.rules.MaxItems)
	if !slices.Contains(scalarTypes, k.itemType) {
		d.fail("/item_type", "%s cannot be the type of items; expected one of %s", quote(string(d.field.ItemType)), list(names(scalarTypes)))
		return
	}
	item := itemField(d.field)
	inner := *d
	inner.field = &item
	k.item.define(&inner)
	k.enough(d)
}

// finite is a kind that may have only so many different values.
type finite interface {
	// different is how many there are: math.MaxInt when they are not counted.
	different() int
}

// enough asks that there are as many values as a list of different ones needs.
func (k listKind) enough(d *definition) {
	of, ok := k.item.(finite)
	if !ok || !k.rules.Unique {
		return
	}
	if n := of.different(); limit(k.rules.MinItems, 0) > n {
		d.fail("/rules/min_items", "%d different items are needed, and an item can only be one of %s; lower min_items, or leave unique out",
			*k.rules.MinItems, plural(n, "value", "values"))
	}
}

func names(types []Type) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = string(t)
	}
	return out
}

func (k listKind) hint() any {
	s := "array of text"
	switch hint := k.item.hint().(type) {
	case string:
		s = "array of " + hint
	case []string:
		s = "array of " + listAll(hint)
	}
	return s + span(k.rules.MinItems, k.rules.MaxItems, "items")
}

func (k listKind) schema() fragment {
	s := fragment{"type": "array", "items": k.item.schema()}
	if k.rules.Unique {
		s["uniqueItems"] = true
	}
	return s.set("minItems", k.rules.MinItems).set("maxItems", k.rules.MaxItems)
}

// example repeats the example of an item; a unique list of several is beyond it.
func (k listKind) example(known lookup) any {
	one := k.item.example(known)
	if one == nil {
		return nil
	}
	return repeated(one, k.rules.MinItems)
}
