package inventory

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// memberOrder is the order that the first lines had. What came later follows it.
const memberOrder = " apiVersion uid digest template generation resourceVersion fields defaults written creation deletion conflict patch" +
	" order deleteOrder phase ready unwaited adopted excluded holdsData runOn "

// member is a field of an Entry, or of its Lifecycle, that has a name in JSON.
type member struct {
	name          string
	field, within int // within a Lifecycle, -1 for a field of the Entry itself
	// words are those that it may have, nil before they were asked for, empty where it
	// may have any.
	words []string
}

// worded is a type whose values are words.
type worded interface{ Recorded() []string }

// members are all members of a line but the key.
func members() []member {
	entry, lifecycle := reflect.TypeFor[Entry](), reflect.TypeFor[lynq.Lifecycle]()
	all := make([]member, 0, entry.NumField()+lifecycle.NumField())
	for i := range entry.NumField() {
		f := entry.Field(i)
		if f.Type != lifecycle {
			all = append(all, member{name: nameOf(&f), field: i, within: -1})
			continue
		}
		for j := range lifecycle.NumField() {
			inner := lifecycle.Field(j)
			all = append(all, member{name: nameOf(&inner), field: i, within: j})
		}
	}
	return slices.DeleteFunc(all, func(m member) bool { return m.name == "-" })
}

// inLine sorts members as they are written.
func inLine(all []member) []member {
	at := func(m member) int {
		if i := strings.Index(memberOrder, " "+m.name+" "); i >= 0 {
			return i
		}
		return len(memberOrder)
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(at(a), at(b)) })
	return all
}

func nameOf(f *reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// knows tells whether a text is one that the member may have. "" is one: that of what was
// not recorded.
func (m *member) knows(v reflect.Value, text string) bool {
	if m.words == nil {
		m.words = []string{}
		if w, ok := v.Interface().(worded); ok {
			m.words = w.Recorded()
		}
	}
	return text == "" || len(m.words) == 0 || slices.Contains(m.words, text)
}

// of is the member of an entry.
func (m *member) of(r *Entry) reflect.Value {
	v := reflect.ValueOf(r).Elem().Field(m.field)
	if m.within >= 0 {
		return v.Field(m.within)
	}
	return v
}

// read sets the member of an entry to what comes next.
func (m *member) read(s *scanner, r *Entry) {
	switch v := m.of(r); v.Kind() {
	case reflect.String:
		text := s.text()
		if !m.knows(v, text) {
			s.fail("%s is %q", m.name, text)
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(s.truth())
	case reflect.Int, reflect.Int64:
		v.SetInt(s.number())
	default:
		if t, ok := v.Addr().Interface().(*time.Time); ok {
			*t = s.time()
			return
		}
		s.fail("%s cannot be read", m.name)
	}
}
