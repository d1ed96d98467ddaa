package source

import (
	"context"
	"errors"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// openHTTP reads all rows of an API into a file, and opens it as JSON.
func openHTTP(ctx context.Context, c endpoint.Connection, from given) (Source, error) {
	roots, err := rootCAs(c)
	if err != nil {
		return nil, err
	}
	rows, err := httprows.Read(ctx, c, roots, from.answers)
	if err != nil {
		return nil, err
	}
	return &jsonSource{fileSource: fileSource{&dataFile{file: rows.File, name: rows.Name(), shared: rows}}}, nil
}

// shapeOf fills in the field with the rows of an API's answer, and that the API has no
// further pages. The API's own error is for those who read the rows.
func shapeOf(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	const attempts = 2 // one for each setting
	for range attempts {
		src, err := openHTTP(ctx, c, given{})
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
