package form_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TestSchemaFiles compares the schemas with the fields of hubs and forms. With -update, it
// writes them.
func TestSchemaFiles(t *testing.T) {
	for name, root := range map[string]form.Field{"lynqhub": form.FieldsOf(wellknown.KindHub), "lynqform": form.FieldsOf(wellknown.KindForm)} {
		t.Run(name, func(t *testing.T) {
			w := schemaWriter{t, ordered{}}
			all := ordered{{"$schema", text(t, "http://json-schema.org/draft-07/schema#")}, {"title", text(t, root.Name)}}
			all = append(all, w.rules(&root)...)
			all = append(all, member{"definitions", w.shared.bytes()})
			var want bytes.Buffer
			if err := json.Indent(&want, all.bytes(), "", "  "); err != nil {
				t.Fatal(err)
			}
			want.WriteByte('\n')
			path := filepath.Join(schemas, name+".schema.json")
			if *update {
				if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if content, err := os.ReadFile(path); err != nil || !bytes.Equal(content, want.Bytes()) {
				t.Errorf("%s doesn't have the fields of package form (%v); make generate writes them", path, err)
			}
		})
	}
}

type member struct {
	key   string
	value json.RawMessage
}

// ordered is a mapping of JSON.
type ordered []member

func (o ordered) bytes() json.RawMessage {
	var parts []string
	for _, m := range o {
		parts = append(parts, `"`+m.key+`": `+string(m.value))
	}
	return json.RawMessage("{" + strings.Join(parts, ", ") + "}")
}

// text returns a value as JSON, without escapes for HTML.
func text(t *testing.T, value any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(strings.TrimSpace(b.String()))
}

// schemaWriter turns fields into rules of a JSON schema.
type schemaWriter struct {
	t      *testing.T
	shared ordered // definitions
}

// field returns the schema of a field.
func (w *schemaWriter) field(f *form.Field) json.RawMessage {
	all := w.described(f)
	switch {
	case f.Type == form.ListField && f.Fields != nil:
		return append(all, member{"type", text(w.t, "array")}, member{"items", w.object(f)}).bytes()
	case f.Shared != "":
		return append(all, member{"$ref", w.refer(f)}).bytes()
	}
	return w.rules(f).bytes()
}

func (w *schemaWriter) described(f *form.Field) ordered {
	if f.Doc == "" {
		return nil
	}
	return ordered{{"description", text(w.t, f.Doc)}}
}

// object returns the schema of an object, or a reference to it.
func (w *schemaWriter) object(f *form.Field) json.RawMessage {
	if f.Shared != "" {
		return ordered{{"$ref", w.refer(f)}}.bytes()
	}
	return w.rules(&form.Field{Type: form.ObjectField, Fields: f.Fields, Rules: f.Rules}).bytes()
}

// refer adds the definition of an object, and returns the reference to it.
func (w *schemaWriter) refer(f *form.Field) json.RawMessage {
	if !slices.ContainsFunc(w.shared, func(m member) bool { return m.key == f.Shared }) {
		own := *f
		own.Shared = ""
		w.shared = append(w.shared, member{f.Shared, w.object(&own)})
	}
	return text(w.t, "#/definitions/"+f.Shared)
}

// rules returns the keywords of a field.
func (w *schemaWriter) rules(f *form.Field) ordered {
	all := w.described(f)
	add := func(key string, value any) { all = append(all, member{key, text(w.t, value)}) }
	texts := func() ordered {
		text := form.Field{Pattern: f.Pattern}
		return w.rules(&text)
	}
	switch f.Type {
	case form.TextField:
		switch {
		case f.Words != nil:
			add("enum", f.Words)
		case f.Pattern == "" && f.Required:
			add("type", "string")
			add("pattern", `\S`)
		default:
			add("type", "string")
		}
		if f.Pattern != "" {
			add("pattern", f.Pattern)
		}
	case form.NumberField:
		add("type", "integer")
		add("minimum", f.Low)
		if f.High < math.MaxInt {
			add("maximum", f.High)
		}
	case form.FlagField:
		add("type", "boolean")
	case form.ListField:
		add("type", "array")
		add("items", texts().bytes())
	case form.MapField:
		add("type", "object")
		all = append(all, w.properties(f)...)
		add("additionalProperties", texts().bytes())
	case form.ObjectField:
		add("type", "object")
		if all = append(all, w.properties(f)...); f.Fields != nil {
			add("additionalProperties", false)
		}
	case form.ChoiceField:
		add("oneOf", w.variants(f))
	case form.AnyField:
	}
	switch {
	case f.Default != "" && f.Type == form.TextField:
		add("default", f.Default)
	case f.Default != "":
		add("default", json.RawMessage(f.Default))
	}
	return w.more(f, all)
}

// more adds the field's own keywords, in place of others.
func (w *schemaWriter) more(f *form.Field, all ordered) ordered {
	decoder := json.NewDecoder(strings.NewReader("{" + f.Rules + "}"))
	if _, err := decoder.Token(); err != nil {
		w.t.Fatal(err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		var value json.RawMessage
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			w.t.Fatalf("%s: %v", f.Name, err)
		}
		all = slices.DeleteFunc(all, func(m member) bool { return m.key == key })
		all = append(all, member{as[string](key), value})
	}
	return all
}

// properties returns the fields of an object.
func (w *schemaWriter) properties(f *form.Field) ordered {
	if f.Fields == nil {
		return nil
	}
	var properties ordered
	var required []string
	for i := range f.Fields {
		below := &f.Fields[i]
		if slices.ContainsFunc(properties, func(m member) bool { return m.key == below.Name }) {
			w.t.Errorf("%s has %s twice", f.Name, below.Name)
		}
		properties = append(properties, member{below.Name, w.field(below)})
		if below.Required {
			required = append(required, below.Name)
		}
	}
	all := ordered{{"properties", properties.bytes()}}
	if required != nil {
		all = append(all, member{"required", text(w.t, required)})
	}
	return all
}

// variants returns the schema for each type of a choice.
func (w *schemaWriter) variants(f *form.Field) []json.RawMessage {
	var all []json.RawMessage
	for i := range f.Fields {
		if block := f.Fields[i]; block.Type == form.ObjectField {
			fields := []form.Field{{Name: "type", Required: true, Words: []string{block.Name}}}
			for _, other := range f.Fields {
				if other.Name != "type" && other.Type != form.ObjectField {
					fields = append(fields, other)
				}
			}
			doc := block.Doc
			block.Required, block.Doc = true, ""
			one := form.Field{Type: form.ObjectField, Doc: doc, Fields: append(fields, block)}
			all = append(all, w.rules(&one).bytes())
		}
	}
	return all
}
