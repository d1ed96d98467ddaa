package source

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// Complete adds to a connection the settings that its file or API shows: the only table of
// a SQLite file, the separator of CSV, the field with the rows, and that an API has one
// page. It reads nothing from standard input, and returns such a connection unchanged.
func Complete(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	switch {
	case c.Path == "-":
		return c, nil
	case c.Type == endpoint.SourceSQLite && c.Table == "":
		return onlyTable(ctx, c)
	case c.Type == endpoint.SourceCSV && c.File.Separator == "":
		return separated(ctx, c)
	case c.Type == endpoint.SourceJSON && c.File.Items == "":
		return itemsOf(ctx, c)
	case c.Type == endpoint.SourceHTTP:
		return shapeOf(ctx, c)
	}
	return c, nil
}

// onlyTable fills in the table of a SQLite file with one table.
func onlyTable(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	src, err := openSQLite(c)
	if err != nil {
		return c, err
	}
	defer func() { _ = src.Close() }() // nothing was written
	if _, err := src.Describe(ctx); err != nil {
		return c, err
	}
	if s, ok := src.(*sqliteSource); ok {
		c.Table = s.table
	}
	return c, nil
}

// separated fills in the separator of a CSV file, unless it is a comma.
func separated(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	src, err := openCSV(ctx, c, nil)
	if err != nil {
		return c, err
	}
	defer func() { _ = src.Close() }() // nothing was written
	columns, err := src.Describe(ctx)
	if err != nil {
		return c, err
	}
	if len(columns) == 1 {
		c.File.Separator = likelySeparator([]string{columns[0].Name})
	}
	return c, nil
}

// itemsOf fills in the field with the rows if a JSON file is one object around a list.
func itemsOf(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	src, err := openJSON(ctx, c, nil)
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

// shapeOf fills in the field with the rows of an API's answer, and that the API has no
// further pages. The API's own error is for those who read the rows.
func shapeOf(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	const attempts = 2 // one for each setting
	for range attempts {
		src, err := openHTTP(ctx, c, nil)
		shape, isShape := errors.AsType[*httprows.ShapeError](err)
		switch {
		case err == nil:
			return c, src.Close()
		case !isShape || len(shape.Lists) != 1 && !shape.Ended:
			return c, err
		case shape.Ended:
			c.HTTP.Whole = true
		default:
			c.HTTP.Items = shape.Lists[0]
		}
	}
	return c, nil
}
