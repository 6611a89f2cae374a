package form

import (
	"slices"
	"strconv"
	"strings"
)

// tableKind is table: an array of rows, each an object with the cells of the columns: [{"col": "v"}]. Columns have
// scalar types with the rules of these; an empty cell of an optional column may be absent or null. rules.min_items
// and max_items bound the rows.
type tableKind struct {
	columns []Column
	names   []string
	cells   map[string]int
	kinds   []kind
	rules   Rules
}

func newTable(f *Field, b *Budget) kind {
	k := tableKind{columns: f.Columns, cells: make(map[string]int, len(f.Columns)), rules: f.Rules}
	for i := range f.Columns {
		cell := f.Columns[i].cell()
		k.kinds = append(k.kinds, newKind(&cell, b))
		k.names = append(k.names, cell.Name)
		if _, ok := k.cells[cell.Name]; !ok {
			k.cells[cell.Name] = i
		}
	}
	return k
}

// cell is the definition of the column's cells.
func (col *Column) cell() Field {
	cell := Field{
		Name: col.Name, Title: col.Title, Description: col.Description, Type: col.Type, Required: col.Required,
		Options: col.Options, AllowOther: col.AllowOther, Scale: col.Scale, Schemes: col.Schemes, Hosts: col.Hosts, Rules: col.Rules,
	}
	if !col.Type.scalar() {
		cell.Type = ""
	}
	return cell
}

func (k tableKind) check(v *value, c *check) {
	if v.shape != array {
		c.expect("an array of rows", v)
		return
	}
	c.count(len(v.items), k.rules.MinItems, k.rules.MaxItems, "row", "rows")
	for i := range v.items {
		if c.full() {
			return
		}
		k.row(&v.items[i], c.item(i))
	}
}

func (k tableKind) row(row *value, c *check) {
	if row.shape != object {
		c.expect("an object with "+list(k.names), row)
		return
	}
	answered := make([]bool, len(k.columns))
	for j := range row.members {
		cell := &row.members[j]
		i, ok := k.cells[cell.key]
		switch {
		case !ok:
			c.fail("unknown column %s; expected %s", quote(cell.key), list(k.names))
		case !cell.value.empty():
			answered[i] = true
			k.kinds[i].check(&cell.value, c.at(cell.key))
		}
		if c.full() {
			return
		}
	}
	for i := range k.columns {
		if k.columns[i].Required && !answered[i] {
			c.at(k.columns[i].Name).fail("column %s is required", quote(k.columns[i].Name))
		}
	}
}

func (k tableKind) define(d *definition) {
	d.bounds("items", k.rules.MinItems, k.rules.MaxItems)
	if n := len(k.columns); n == 0 || n > maxColumns {
		d.fail("/columns", "a table has 1 to %d columns, got %d", maxColumns, n)
	}
	for i := range k.columns[:min(len(k.columns), maxColumns)] {
		col, at := &k.columns[i], "/columns/"+strconv.Itoa(i)
		if !nameFits(col.Name) {
			d.fail(at+"/name", "%s is not a name; expected %s", quote(col.Name), nameForm)
		}
		if slices.Index(k.names, col.Name) < i {
			d.fail(at+"/name", "the name %s is taken by another column", quote(col.Name))
		}
		d.length(at+"/title", "title", col.Title, maxTitleChars)
		d.length(at+"/description", "description", col.Description, maxDescriptionChars)
		if !col.Type.scalar() {
			d.fail(at+"/type", "%s cannot be the type of a column; expected one of %s", quote(string(col.Type)), list(names(scalarTypes)))
			continue
		}
		cell := col.cell()
		inner := *d
		inner.field, inner.prefix = &cell, d.prefix+at
		inner.fits()
		if cell.Rules.EqualsField != "" {
			inner.fail("/rules/equals_field", "a column cannot use equals_field")
		}
		k.kinds[i].define(&inner)
	}
}

func (k tableKind) hint() any {
	return "array of objects: " + strings.Join(k.names, ", ") + span(k.rules.MinItems, k.rules.MaxItems, "rows")
}

func (k tableKind) schema() fragment {
	properties, required := fragment{}, []string{}
	for i := range k.columns {
		properties[k.names[i]] = k.kinds[i].schema()
		if k.columns[i].Required {
			required = append(required, k.names[i])
		} else {
			properties[k.names[i]] = fragment{"anyOf": []any{k.kinds[i].schema(), fragment{"type": "null"}}}
		}
	}
	row := fragment{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	return fragment{"type": "array", "items": row}.set("minItems", k.rules.MinItems).set("maxItems", k.rules.MaxItems)
}

func (k tableKind) example(known lookup) any {
	row, size := map[string]any{}, 0
	for i, name := range k.names {
		one := k.kinds[i].example(known)
		if one == nil {
			continue
		}
		if size += len(name) + len(marshal(one)); size > maxExample {
			return nil
		}
		row[name] = one
	}
	return repeated(row, k.rules.MinItems)
}
