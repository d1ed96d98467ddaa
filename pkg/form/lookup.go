package form

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// Lookup gives templates the fields of an entry, which the value of a column chooses.
type Lookup struct {
	Pos    lynq.Pos
	Name   string
	Column string // of the row
	// File is a path within the directory of the hub's file, or "".
	File Text
	// Table is a table of the hub's database, and Key its column with the values of Column.
	// Without a table, both are "".
	Table, Key string
	// SecretColumns are fields whose values no output shows.
	SecretColumns []string
	// Entries are nil for a table, and for a file that wasn't read yet.
	Entries *Entries
}

// Entries are the entries of a lookup.
type Entries struct {
	Fields []string            // sorted
	Values map[string][]string // by the value of the column, in the order of Fields
}

// Secret reports whether output must hide the values of a field. The values of a secret
// column's entry tell the column's value.
func (l *Lookup) Secret(h *Hub, field string) bool {
	return h.Secret(l.Column) || slices.Contains(l.SecretColumns, field)
}

// These limits keep a lookup in memory.
const (
	maxLookupBytes = 4 << 20
	// MaxEntries limits the entries of a lookup.
	MaxEntries = 100_000
)

// readLookups reads spec.lookups.
func readLookups(spec *object, hub *Hub) {
	for _, o := range spec.objects("lookups") {
		item := o.value
		l := &Lookup{Pos: item.Pos, Column: o.needText("column").Text, File: o.text("file")}
		name := o.needText("name")
		l.Table, l.Key = filled(o, "table"), filled(o, "key")
		values := o.object("values")
		for _, t := range o.texts("secretColumns") {
			l.SecretColumns = append(l.SecretColumns, t.Text)
		}
		o.done()
		if item.Kind != document.Map {
			continue
		}
		checkLookupName(o, name, hub)
		l.Name = name.Text
		checkLookupOrigin(o, l, values, hub)
		if values != nil {
			l.Entries = readEntries(o.report, o.subject, values.path, values.value)
			checkSecretFields(o.report, o.subject, l)
		}
		hub.Lookups = append(hub.Lookups, l)
	}
}

// checkLookupName refuses a name that templates can't tell from another.
func checkLookupName(o *object, name Text, hub *Hub) {
	taken := func(m Mapping) bool { return m.Variable == name.Text || m.Column == name.Text }
	same := func(l *Lookup) bool { return l.Name == name.Text || l.Column == name.Text }
	withHost := slices.ContainsFunc(hub.Mappings, func(m Mapping) bool { return m.Variable == "hostOrUrl" })
	switch {
	case name.Text == "":
	case !o.matches("name", name):
		o.fail(name.Pos, "use letters, digits and '_'", "%s %q is not a name for templates", o.name("name"), name.Text)
	case slices.Contains(lynq.PredefinedVariables(), name.Text), withHost && name.Text == "host":
		o.fail(name.Pos, "choose another name", "%s: variable %q is predefined in every template", o.name("name"), name.Text)
	case slices.ContainsFunc(hub.Mappings, taken), name.Text == hub.Expires.Column, name.Text == hub.PreviousUID.Column:
		o.fail(name.Pos, "choose another name", "%s: %q is a variable or a column of the hub", o.name("name"), name.Text)
	case slices.ContainsFunc(hub.Lookups, same), o.value.Field("column").Literal() == name.Text:
		o.fail(name.Pos, "choose another name", "%s: %q is another lookup, or the column of one", o.name("name"), name.Text)
	}
}

// checkLookupOrigin checks that a lookup says exactly once where its entries are.
func checkLookupOrigin(o *object, l *Lookup, values *object, hub *Hub) {
	origins := 0
	for _, set := range []bool{l.File.IsSet(), values != nil, l.Table != ""} {
		if set {
			origins++
		}
	}
	switch {
	case origins != 1:
		o.fail(o.value.Pos, "write file, values, or table and key", "%s needs exactly one of file, values and table", o.path)
	case l.Table != "" && l.Key == "":
		o.fail(o.value.Pos, "name the column of the table that has the values of "+phrase.Quote(l.Column), "%s.key is missing", o.path)
	case l.Table == "" && l.Key != "":
		o.fail(o.get("key").Pos, "remove it, or name the table", "%s has no effect without table", o.name("key"))
	case l.Table != "" && !hub.Source.Type.HasSQL() && hub.Source.Type != "":
		o.fail(o.get("table").Pos, "write file or values", "%s: a source of type %s has no second table", o.name("table"), hub.Source.Type)
	case l.File.IsSet() && l.File.Pos.File == files.StdinName:
		o.fail(l.File.Pos, "give the hub as a file, or write values", "%s: a hub from standard input has no directory", o.name("file"))
	case l.File.IsSet() && !filepath.IsLocal(l.File.Text):
		o.fail(l.File.Pos, "move the file there, and write its path from the hub's file", "%s must be in the directory of the hub's file, or below it", o.name("file"))
	}
}

// checkSecretFields refuses secret columns that a lookup's entries lack.
func checkSecretFields(rep *report, subject string, l *Lookup) {
	for _, name := range l.SecretColumns {
		if l.Entries != nil && !slices.Contains(l.Entries.Fields, name) {
			rep.problems.Add(l.Pos, suggest.Fix(name, l.Entries.Fields), "%s: secretColumns of lookup %q: its entries have no field %q", subject, l.Name, name)
		}
	}
}

// readEntries reads entries, which all have the same fields.
func readEntries(rep *report, subject, path string, v *document.Value) *Entries {
	e := &Entries{Values: map[string][]string{}}
	fail := func(pos lynq.Pos, fix, format string, args ...any) {
		rep.problems.Add(pos, fix, "%s: %s: %s", subject, path, fmt.Sprintf(format, args...))
	}
	if len(v.Fields) == 0 || len(v.Fields) > MaxEntries {
		fail(v.Pos, "write a mapping from values to entries", "it has %d entries, and 1 to %d are possible", len(v.Fields), MaxEntries)
		return e
	}
	for _, f := range v.Fields[0].Value.Fields {
		e.Fields = append(e.Fields, f.Key)
	}
	slices.Sort(e.Fields)
	for _, entry := range v.Fields {
		if entry.Value.Kind != document.Map || len(entry.Value.Fields) == 0 {
			fail(entry.Pos, "write its fields, such as {cpu: 1}", "entry %s must be a mapping, found %s", phrase.Quote(entry.Key), entry.Value.Describe())
			continue
		}
		values := make([]string, len(e.Fields))
		for _, f := range entry.Value.Fields {
			at, known := slices.BinarySearch(e.Fields, f.Key)
			text, scalar := scalarText(f.Value)
			switch {
			case !known:
				fail(f.Pos, "give all entries the same fields", "entry %s has field %s, and entry %s doesn't", phrase.Quote(entry.Key), phrase.Quote(f.Key), phrase.Quote(v.Fields[0].Key))
			case !scalar:
				fail(f.Pos, "write a text or a number", "field %s of entry %s is %s", phrase.Quote(f.Key), phrase.Quote(entry.Key), f.Value.Describe())
			default:
				values[at] = text
			}
		}
		for _, name := range e.Fields {
			if entry.Value.Field(name) == nil {
				fail(entry.Pos, `give all entries the same fields, with "" for none`, "entry %s lacks field %s, which entry %s has", phrase.Quote(entry.Key), phrase.Quote(name), phrase.Quote(v.Fields[0].Key))
			}
		}
		e.Values[entry.Key] = values
	}
	return e
}

// scalarText returns a scalar as the text of a column.
func scalarText(v *document.Value) (string, bool) {
	switch v.Kind {
	case document.Null:
		return "", true
	case document.Bool:
		return strconv.FormatBool(v.Bool), true
	case document.Int:
		return strconv.FormatInt(v.Int, 10), true
	case document.Float:
		return strconv.FormatFloat(v.Float, 'f', -1, 64), true
	case document.String:
		return v.Str, true
	}
	return "", false
}

// readLookupFiles reads the files of the hubs' lookups, also those that another load has
// read. Hubs may come from the memory, so a hub with such a file becomes a copy.
func (l *loader) readLookupFiles() {
	for i, hub := range l.in.Hubs {
		if l.kept[hub.Key()] || !slices.ContainsFunc(hub.Lookups, func(k *Lookup) bool { return k.File.IsSet() }) {
			continue
		}
		next := *hub
		next.Lookups = slices.Clone(hub.Lookups)
		for k, lookup := range next.Lookups {
			if lookup.File.IsSet() && filepath.IsLocal(lookup.File.Text) && lookup.File.Pos.File != files.StdinName {
				own := *lookup
				own.Entries = l.lookupFile(&next, &own)
				next.Lookups[k] = &own
			}
		}
		l.in.Hubs[i] = &next
	}
}

// lookupFile reads the entries of a file.
func (l *loader) lookupFile(hub *Hub, lookup *Lookup) *Entries {
	subject := subjectOf("hub", hub.Name)
	path := lookup.Path()
	data, err := readWithin(filepath.Dir(lookup.File.Pos.File), lookup.File.Text)
	if err != nil {
		l.problems.Add(lookup.File.Pos, "check the path, which begins at the hub's file", "%s: lookup %q: read %s: %v", subject, lookup.Name, path, err)
		return &Entries{}
	}
	stream := document.Parse(path, data)
	l.problems = append(l.problems, stream.Problems...)
	switch {
	case len(stream.Problems) > 0 || stream.Broken:
		return &Entries{}
	case len(stream.Documents) != 1 || stream.Documents[0].Kind != document.Map:
		l.problems.Add(lynq.Pos{File: path}, "write one mapping from values to entries, such as gold: {cpu: 1}", "%s: lookup %q: the file isn't one mapping", subject, lookup.Name)
		return &Entries{}
	}
	entries := readEntries(&l.report, subject, "lookup "+strconv.Quote(lookup.Name), stream.Documents[0])
	lookup.Entries = entries
	checkSecretFields(&l.report, subject, lookup)
	return entries
}

// Path returns the path of a lookup's file, or "".
func (l *Lookup) Path() string {
	if !l.File.IsSet() {
		return ""
	}
	return filepath.Join(filepath.Dir(l.File.Pos.File), l.File.Text)
}

// readWithin reads a regular file of a directory. A symbolic link may not lead out of it.
func readWithin(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, pathless(err)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, pathless(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxLookupBytes+1))
	if err == nil && len(data) > maxLookupBytes {
		err = fmt.Errorf("it has more than %d MiB", maxLookupBytes>>20)
	}
	return data, pathless(err)
}

// pathless removes the path of an error, which the message has.
func pathless(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// isLookupFile reports whether a problem is about a file of a lookup.
func isLookupFile(hub *Hub, p lynq.Problem) bool {
	return slices.ContainsFunc(hub.Lookups, func(l *Lookup) bool {
		return l.File.IsSet() && filepath.Clean(p.Pos.File) == l.Path()
	})
}

// Near returns the fix for a value without an entry.
func (e *Entries) Near(value string) string {
	keys := make([]string, 0, len(e.Values))
	for key := range e.Values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if near, ok := suggest.Near(value, keys); ok {
		return fmt.Sprintf("did you mean %q? otherwise add an entry", near)
	}
	const most = 20
	if len(keys) > most {
		return "add an entry"
	}
	return "add an entry; it has " + strings.Join(keys, ", ")
}
