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
	switch s := src.(type) {
	case *jsonSource:
		if !s.array {
			c.File.Items = onlyList(jsontext.NewDecoder(&fileReader{file: s.file, offset: s.start}))
		}
	case *yamlSource:
		c.File.Items = s.onlyList()
	}
	return c, nil
}

// onlyList returns the name of the only list of objects in an object. It returns "" if the
// text isn't one object, or if the object looks like a row. Reading the rows reports
// errors.
func onlyList(d *jsontext.Decoder) string {
	var names, lists []string
	if _, err := d.ReadToken(); err != nil {
		return ""
	}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return ""
		}
		names = append(names, token.String())
		if d.PeekKind() != jsontext.KindBeginArray {
			if d.SkipValue() != nil {
				return ""
			}
			continue
		}
		if isList, err := listOfObjects(d); err != nil {
			return ""
		} else if isList {
			lists = append(lists, names[len(names)-1])
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return ""
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return "" // each object is a row
	}
	return chosenList(names, lists)
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

// chosenList returns the only list of an object's members. An object with a usual key is a
// row itself.
func chosenList(names, lists []string) string {
	isKey := func(name string) bool {
		return slices.Contains([]string{"id", "uid", "uuid", "slug", "key"}, strings.ToLower(name))
	}
	if len(lists) != 1 || slices.ContainsFunc(names, isKey) {
		return ""
	}
	return lists[0]
}
