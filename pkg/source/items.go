package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// itemsPath returns the fields that lead to the rows.
func itemsPath(items string) []string {
	if items == "" {
		return nil
	}
	return strings.Split(items, ".")
}

// begin reads the text before the first row: the bracket of the array, and the objects
// around it.
func (s *jsonSource) begin(d *jsontext.Decoder, lines *lineCounter) error {
	for _, name := range itemsPath(s.items) {
		if d.PeekKind() != jsontext.KindBeginObject {
			return s.noItems(d, lines, nil)
		}
		if _, err := d.ReadToken(); err != nil {
			return s.syntax(0, lines, err)
		}
		names, err := enter(d, func(key string) bool { return key == name })
		if err != nil {
			return s.syntax(d.InputOffset(), lines, err)
		}
		if names != nil {
			return s.noItems(d, lines, names)
		}
	}
	if s.items != "" && d.PeekKind() != jsontext.KindBeginArray {
		return s.noItems(d, lines, nil)
	}
	if _, err := d.ReadToken(); err != nil {
		return s.syntax(d.InputOffset(), lines, err)
	}
	return nil
}

// enter reads the members of an object until it has read the wanted key. If there is none,
// it returns the names of all members.
func enter(d *jsontext.Decoder, wanted func(key string) bool) (names []string, err error) {
	names = []string{}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := token.String()
		if wanted(key) {
			return nil, nil
		}
		names = append(names, key)
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	_, err = d.ReadToken()
	return names, err
}

// leave reads the rest of the objects around the rows.
func leave(d *jsontext.Decoder, depth int) error {
	for range depth {
		if _, err := enter(d, func(string) bool { return false }); err != nil {
			return err
		}
	}
	return nil
}

// noItems returns the error for a file without the array that the hub names.
func (s *jsonSource) noItems(d *jsontext.Decoder, lines *lineCounter, names []string) error {
	if names == nil { // a value of another kind, or no JSON
		if _, err := d.ReadValue(); err != nil {
			return s.syntax(d.InputOffset(), lines, err)
		}
	}
	return itemsError(s.file.name, s.items, names)
}

// itemsError returns the error for a file without rows at a field. names are the fields of
// the object that should have it.
func itemsError(place, items string, names []string) error {
	e := &Error{Place: place, What: "the file has no list of rows at " + phrase.Quote(items), Fix: "set items to the field that has the rows, or remove it if nothing is around them"}
	names = slices.DeleteFunc(names, func(name string) bool { return !looksLikeColumn(name) })
	if path := itemsPath(items); len(names) > 0 {
		e.Fix = "set items to the field that has the rows; " + suggest.Fix(path[len(path)-1], names)
	}
	return e
}

// within returns the node at the field that has the rows.
func (s *yamlSource) within(node *yaml.Node) (*yaml.Node, error) {
	for _, name := range itemsPath(s.items) {
		var names []string
		var next *yaml.Node
		if node = resolveAlias(node); node.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(node.Content); i += 2 {
				key := node.Content[i].Value
				names = append(names, key)
				switch {
				case key == name && next != nil:
					return nil, &Error{Place: s.file.at(node.Content[i].Line), What: fmt.Sprintf("key %s appears twice in one object", phrase.Quote(key)), Fix: "remove one"}
				case key == name:
					next = node.Content[i+1]
				}
			}
		}
		if next == nil {
			return nil, itemsError(s.file.at(max(1, node.Line)), s.items, names)
		}
		node = next
	}
	return resolveAlias(node), nil
}

// notList returns the error for a file that has another value than a list of rows.
func (s *yamlSource) notList(node *yaml.Node) error {
	e := &Error{Place: s.file.at(max(1, node.Line)), What: "this is not a list of rows", Fix: "write each row as \"- column: value\""}
	if s.items != "" {
		return itemsError(e.Place, s.items, nil)
	}
	if node.Kind == yaml.MappingNode {
		e.Fix += "; if a field has the rows, set items to its name"
	}
	return e
}

// itemsOf fills in the field with the rows if a JSON file is one object around a list.
func itemsOf(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	if c.File.Items != "" {
		return c, nil
	}
	src, err := openJSON(ctx, c, given{})
	if err != nil {
		return c, err
	}
	defer func() { _ = src.Close() }() // nothing was written
	var found lists
	switch s := src.(type) {
	case *jsonSource:
		if !s.array {
			found = listsOf(jsontext.NewDecoder(&fileReader{file: s.file, offset: s.start}))
		}
	case *yamlSource:
		found = s.lists()
	}
	c.File.Items, err = found.chosen(c.Path)
	return c, err
}

// lists are the fields of one object that have lists of objects, and the object's members.
type lists struct{ fields, members []string }

// deepestList limits the names in the path of a list, such as data.users.
const deepestList = 3

// listsOf finds the lists in an object. It returns none if the text isn't one object.
// Reading the rows reports errors.
func listsOf(d *jsontext.Decoder) (l lists) {
	if err := l.read(d, nil); err != nil {
		return lists{}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return lists{} // each object is a row
	}
	return l
}

// read reads an object at a path.
func (l *lists) read(d *jsontext.Decoder, path []string) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		at := append(slices.Clone(path), name)
		if len(path) == 0 {
			l.members = append(l.members, name)
		}
		isList := false
		switch kind := d.PeekKind(); {
		case kind == jsontext.KindBeginArray:
			isList, err = listOfObjects(d)
		case kind == jsontext.KindBeginObject && len(at) < deepestList:
			err = l.read(d, at)
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
		if isList {
			l.fields = append(l.fields, strings.Join(at, "."))
		}
	}
	_, err := d.ReadToken()
	return err
}

// listOfObjects reads an array, and reports whether its first value is an object.
func listOfObjects(d *jsontext.Decoder) (is bool, err error) {
	if _, err := d.ReadToken(); err != nil {
		return false, err
	}
	is = d.PeekKind() == jsontext.KindBeginObject
	for d.PeekKind() != jsontext.KindEndArray {
		if err := d.SkipValue(); err != nil {
			return false, err
		}
	}
	_, err = d.ReadToken()
	return is, err
}

// chosen returns the only list. An object with a usual key is a row itself.
func (l lists) chosen(file string) (string, error) {
	isKey := func(name string) bool {
		return slices.Contains([]string{"id", "uid", "uuid", "slug", "key"}, strings.ToLower(name))
	}
	switch {
	case len(l.fields) == 0, slices.ContainsFunc(l.members, isKey):
		return "", nil
	case len(l.fields) > 1:
		return "", &Error{
			Place: file,
			What:  "the file has several lists of rows: " + strings.Join(l.fields, ", "),
			Fix:   "write a hub with items, which names one of them, and run init with -f HUB",
		}
	}
	return l.fields[0], nil
}
