package draft

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Table holds what is known of a table.
type Table struct {
	Type    endpoint.SourceType
	Name    string   // "schema.table" on some servers; "" for a file
	Columns []Column // in the table's order
}

// Column is a column and some of its values.
type Column struct {
	Name            string
	Primary, Unique bool // the column alone is such a key
	Binary          bool // it contains bytes
	// Values come from some rows. NULL is "".
	Values []string
}

// Choice holds what people decided. If they left a field "" or nil, Decide decides it.
type Choice struct {
	UID, Activate string
	// EveryRow is set if no column says which rows are active.
	EveryRow bool
	// Activity gives the meaning of Activate's values. Without values, Decide guesses.
	Activity lynq.Activity
	// Expires is the column of an existing hub with the time from which rows are inactive.
	Expires string
	// Mappings, if not nil, are all mappings.
	Mappings []Mapping
	// Secrets are columns whose values no output shows.
	Secrets []string
}

// Mapping gives a template variable the value of a column.
type Mapping struct{ Variable, Column string }

// Draft is the result of Decide.
type Draft struct {
	UID string
	// Activate is the column that shows which rows are active. It is "" if every row is, and
	// Perhaps are then columns that might show it.
	Activate string
	Perhaps  []string
	// Expires is the column with the time from which a row counts as inactive, "" for none.
	// If no column shows which rows are active, PerhapsExpires are those with times in some
	// rows, although their names say nothing.
	Expires        string
	PerhapsExpires []string
	// Others are columns whose names say that they show inactive rows, too, and that don't
	// count, because a hub has one column of each kind.
	Others []string
	// PreviousUID is the column with a row's former uid, "" for none.
	PreviousUID string
	// Assumption says what Decide assumed about Activate's values, or "".
	Assumption string
	// Activity gives the meaning of Activate's values. Unclear are values that people must
	// add to it.
	Activity lynq.Activity
	Unclear  []string
	Mappings []Mapping
	// Converted is a uid that isn't a valid name in Kubernetes, or "". Templates convert it.
	Converted string
	// Hashed is set if templates convert each uid to a hash of it.
	Hashed bool
	// Secrets are columns that look like secrets, and Bytes those without text. Hub and
	// form contain neither.
	Secrets, Bytes []string
	// Rows counts the rows of the table. It is nil if nobody counted them.
	Rows *Rows

	given    bool   // the mappings existed before
	name     string // the template for the start of all objects' names
	replicas string // the variable with a number of replicas, "" for none
}

// Error says why there is no draft.
type Error struct{ What, Fix string }

// Error implements error.
func (e *Error) Error() string { return e.What + " (" + e.Fix + ")" }

// Decide finds out the purpose of a table's columns. It returns an *Error if it can't.
func Decide(t Table, c Choice) (*Draft, error) {
	active, _, _ := t.activate(c, &Column{}) // the second call below reports the error
	uid, err := t.uid(c.UID, t.inactive(active, c))
	if err != nil {
		return nil, err
	}
	activate, perhaps, err := t.activate(c, uid)
	if err != nil {
		return nil, err
	}
	d := &Draft{UID: uid.Name, Activity: c.Activity, Perhaps: perhaps, Converted: noName(uid.Values), name: nameTemplate(uid.Values)}
	if activate != nil {
		d.Activate = activate.Name
		if len(c.Activity.Active) == 0 {
			d.Activity, d.Unclear, _ = activate.activity()
			d.Assumption = activate.assumption()
		}
	}
	if c.Mappings != nil {
		d.given, d.Expires = true, c.Expires
		d.useGiven(t, c)
	} else {
		for _, end := range t.ends() {
			if end != uid && end != activate && d.Expires == "" {
				d.Expires = end.Name
			}
		}
		d.Others = t.others(d, c)
		d.PerhapsExpires = t.perhapsEnds(d, c)
		d.PreviousUID = t.previousUID(d)
		d.mapRest(t)
	}
	d.replicas = t.replicas(d.Mappings)
	return d, nil
}

// perhapsEnds returns the columns that have times in some rows and none in others. It returns
// none if something else shows which rows are active.
func (t Table) perhapsEnds(d *Draft, c Choice) (perhaps []string) {
	if d.Activate != "" || d.Expires != "" || c.EveryRow {
		return nil
	}
	for i := range t.Columns {
		if next := &t.Columns[i]; next.Name != d.UID && !next.Binary && next.hasMoments() && next.hasValue() && slices.Contains(next.Values, "") {
			perhaps = append(perhaps, next.Name)
		}
	}
	return perhaps
}

// HashNames makes the names of objects from hashes of uids, because the words of different
// uids would be equal, or have no ASCII letters.
func (d *Draft) HashNames() { d.Hashed, d.name = true, "t-{{ sha256sum .uid | trunc 16 }}" }

// others returns the columns whose names say something that doesn't count. If a person chose
// the activation, only times are left.
func (t Table) others(d *Draft, c Choice) (others []string) {
	for i := range t.Columns {
		next := &t.Columns[i]
		switch says := next.meaning(); {
		case says == saysNothing, says != saysEnd && (c.EveryRow || c.Activate != ""):
		case says == saysState && d.Activate != "" && !next.isShown(): // an address has a state, too
		case next.Name == d.UID || next.Name == d.Activate || next.Name == d.Expires:
		default:
			others = append(others, next.Name)
		}
	}
	return others
}

// inactive reports of each sample whether the row is inactive, or has an end. activate is
// the activation column, or nil.
func (t Table) inactive(activate *Column, c Choice) (off []bool) {
	if activate != nil {
		given := c.Activity
		if len(given.Active) == 0 {
			given, _, _ = activate.activity()
		}
		for _, v := range activate.Values {
			active, err := given.Of(v)
			off = append(off, err == nil && !active)
		}
	}
	var end *Column
	if ends := t.ends(); c.Mappings == nil && len(ends) > 0 {
		end = ends[0]
	} else if c.Expires != "" {
		end = t.find(c.Expires)
	}
	if end != nil {
		for i, v := range end.Values {
			if i == len(off) {
				off = append(off, false)
			}
			off[i] = off[i] || strings.TrimSpace(v) != ""
		}
	}
	return off
}

// useGiven takes over mappings, without those of secrets, because the first form has no
// place for them.
func (d *Draft) useGiven(t Table, given Choice) {
	for _, m := range given.Mappings {
		of := t.find(m.Column)
		if slices.Contains(given.Secrets, m.Column) || LooksSecret(m.Variable) || of != nil && of.looksSecret() {
			d.Secrets = append(d.Secrets, m.Column)
			continue
		}
		d.Mappings = append(d.Mappings, m)
	}
}

// mapRest gives a variable to every column that may have one.
func (d *Draft) mapRest(t Table) {
	taken := reserved()
	for _, c := range t.Columns {
		switch {
		case c.Name == d.UID || c.Name == d.Activate || c.Name == d.Expires || c.Name == d.PreviousUID || c.meaning() == saysEnd:
		case c.Binary:
			d.Bytes = append(d.Bytes, c.Name)
		case c.looksSecret():
			d.Secrets = append(d.Secrets, c.Name)
		default:
			v := variable(c.Name, taken)
			taken = append(taken, v)
			d.Mappings = append(d.Mappings, Mapping{Variable: v, Column: c.Name})
		}
	}
}

// named returns the column that a person named, or an *Error.
func (t Table) named(what, name string) (*Column, error) {
	if c := t.find(name); c != nil {
		return c, nil
	}
	return nil, &Error{
		What: fmt.Sprintf("there is no column %q to be the %s", name, what),
		Fix:  "available: " + strings.Join(t.names(), ", "),
	}
}

// find returns the column with a name, or nil. Some databases ignore case, so find does,
// too.
func (t Table) find(name string) *Column {
	var near *Column
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Name == name {
			return c
		}
		if strings.EqualFold(c.Name, name) {
			near = c
		}
	}
	return near
}

func (t Table) names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// reserved returns the variables that every template has, and those of a deprecated
// mapping, which would mislead.
func reserved() []string {
	return append(lynq.PredefinedVariables(), "host", "hostOrUrl")
}

// variable returns a name for a column's template variable. It is the column's own name if
// possible, because people look for that.
func variable(column string, taken []string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, column)
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		name = "_" + name
	}
	if slices.Contains(reserved(), name) {
		name = "row_" + name
	}
	return unique(name, taken)
}

// unique returns a name that isn't taken.
func unique(name string, taken []string) string {
	free := name
	for n := 2; slices.Contains(taken, free); n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	return free
}

// nameTemplate returns the template for the start of objects' names: the uid, changed only
// if the samples aren't valid names in Kubernetes. The names of Services begin with a
// letter.
func nameTemplate(uids []string) string {
	fit, letter := noName(uids) == "", true
	for _, uid := range uids {
		letter = letter && startsWithLetter(uid)
	}
	switch {
	case fit && letter:
		return "{{ .uid }}"
	case fit:
		return "t-{{ .uid }}"
	}
	return "t-{{ slug .uid }}"
}

// isName reports whether a uid can be a part of names in Kubernetes.
func isName(uid string) bool { return len(uid) <= 40 && naming.IsDNS1123Label(uid) }

func startsWithLetter(uid string) bool { return uid != "" && uid[0] >= 'a' && uid[0] <= 'z' }

// noName returns the first uid that isn't a valid name in Kubernetes, or "".
func noName(uids []string) string {
	for _, uid := range uids {
		if !isName(uid) {
			return uid
		}
	}
	return ""
}

// replicas returns the variable of a column that contains numbers of replicas, or "".
func (t Table) replicas(mappings []Mapping) string {
	names := []string{"replicas", "replica_count", "instances"}
	for _, m := range mappings {
		if c := t.find(m.Column); c != nil && c.isCount() && slices.Contains(names, snake(c.Name)) {
			return m.Variable
		}
	}
	return ""
}
