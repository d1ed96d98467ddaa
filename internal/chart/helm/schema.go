package helm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// schemas are the compiled values.schema.json of a chart and its subcharts, by the first byte
// of each file. Helm compiles them again for each release.
type schemas map[*byte]*jsonschema.Schema

const schemaFile = "values.schema.json"

// schemaURL is the address that Helm gives a schema.
const schemaURL = "file:///" + schemaFile

// compileSchemas compiles the schemas with the library that Helm uses.
func (o *opened) compileSchemas(c *chart.Chart) (schemas, error) {
	all := schemas{}
	var compile func(c *chart.Chart) error
	compile = func(c *chart.Chart) error {
		if len(c.Schema) > 0 {
			schema, err := compileSchema(c.Schema)
			if err != nil {
				return wrong(o.origins[&c.Schema[0]], "correct the schema", "%v", err)
			}
			all[&c.Schema[0]] = schema
		}
		for _, sub := range c.Dependencies() {
			if err := compile(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return all, compile(c)
}

func compileSchema(text []byte) (*jsonschema.Schema, error) {
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema isn't JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nowhere{})
	if err := compiler.AddResource(schemaURL, content); err != nil {
		return nil, fmt.Errorf("the schema can't be used: %w", err)
	}
	schema, err := compiler.Compile(schemaURL)
	if other, ok := errors.AsType[*elsewhereError](err); ok {
		return nil, other
	}
	if err != nil {
		return nil, fmt.Errorf("the schema can't be used: %w", err)
	}
	return schema, nil
}

// nowhere loads no other schemas. Helm's own loader reads other files and asks web servers.
type nowhere struct{}

// Load implements jsonschema.URLLoader. Like Helm, it takes everything for valid that a urn
// describes.
func (nowhere) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, &elsewhereError{url}
}

// elsewhereError says that a schema refers to another one.
type elsewhereError struct{ url string }

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("the schema refers to %s, and lynqctl-chart reads no other schema; copy it into the $defs of this one", e.url)
}

// check compares values with the schemas of a chart and its subcharts.
func (o *opened) check(c *chart.Chart, values map[string]any, prefix string) []error {
	var all []error
	if len(c.Schema) > 0 {
		if err := o.schemas[&c.Schema[0]].Validate(values); err != nil {
			all = append(all, schemaProblems(o.origins[&c.Schema[0]], prefix, err)...)
		}
	}
	for _, sub := range c.Dependencies() {
		switch below := values[sub.Name()].(type) {
		case nil:
		case map[string]any:
			all = append(all, o.check(sub, below, prefix+sub.Name()+".")...)
		default:
			all = append(all, wrong(o.path, "write a map", "values: %s%s is no map", prefix, sub.Name()))
		}
	}
	return all
}

// schemaProblems names the fields that a schema refuses, without their values.
func schemaProblems(file, prefix string, err error) []error {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []error{wrong(file, "correct the schema", "the values can't be checked: %v", err)}
	}
	var leaves []*jsonschema.ValidationError
	var visit func(e *jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			leaves = append(leaves, e)
		}
		for _, cause := range e.Causes {
			visit(cause)
		}
	}
	visit(invalid)
	var texts []string
	for _, leaf := range leaves {
		field := strings.TrimSuffix(prefix+strings.Join(leaf.InstanceLocation, "."), ".")
		if field == "" {
			texts = append(texts, "values: "+reason(leaf.ErrorKind))
		} else {
			texts = append(texts, "values: "+field+": "+reason(leaf.ErrorKind))
		}
	}
	slices.Sort(texts)
	var all []error
	for _, text := range slices.Compact(texts) {
		all = append(all, &problem{wire.Problem{File: file, What: text, Fix: "correct the values of the chart"}})
	}
	return all
}

// reason says what is wrong with a value, and doesn't show it.
func reason(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Pattern:
		return "doesn't match the pattern " + k.Want
	case *kind.Format:
		return "isn't a valid " + k.Want
	case *kind.InvalidJsonValue:
		return "isn't a value of JSON"
	case *kind.Minimum, *kind.ExclusiveMinimum:
		return "the number is too small"
	case *kind.Maximum, *kind.ExclusiveMaximum:
		return "the number is too large"
	case *kind.MultipleOf:
		return "the number is no multiple of the one in the schema"
	case *kind.ContentEncoding, *kind.ContentMediaType:
		return "the text isn't encoded as the schema says"
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}
