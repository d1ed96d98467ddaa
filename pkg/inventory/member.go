package inventory

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// memberOrder is the order of the first format. New members follow it.
const memberOrder = " apiVersion uid digest template generation resourceVersion fields defaults written creation deletion conflict patch" +
	" order deleteOrder phase ready unwaited adopted excluded holdsData runOn "

// member is a field of an Entry, or of its Lifecycle, with a JSON name.
type member struct {
	name          string
	field, within int // index in Lifecycle; -1 for a field of Entry
	// words are the allowed values. It is nil until first used, and empty if all values
	// are allowed.
	words []string
}

// worded is a type with fixed values.
type worded interface{ Recorded() []string }

// members returns all members of a line except the key.
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

// inLine sorts members in output order.
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

// knows reports whether the member allows a text. It always allows "", which means not
// recorded.
func (m *member) knows(v reflect.Value, text string) bool {
	if m.words == nil {
		m.words = []string{}
		if w, ok := v.Interface().(worded); ok {
			m.words = w.Recorded()
		}
	}
	return text == "" || len(m.words) == 0 || slices.Contains(m.words, text)
}

// of returns the member's field of an entry.
func (m *member) of(r *Entry) reflect.Value {
	v := reflect.ValueOf(r).Elem().Field(m.field)
	if m.within >= 0 {
		return v.Field(m.within)
	}
	return v
}

// read reads the next value into the member's field of an entry.
func (m *member) read(s *scanner, r *Entry) {
	switch v := m.of(r); v.Kind() {
	case reflect.String:
		text := s.text()
		if !m.knows(v, text) {
			s.fail("%s is %q", m.name, text)
		}
		if i := slices.Index(m.words, text); i >= 0 {
			text = m.words[i] // not a part of the line
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
