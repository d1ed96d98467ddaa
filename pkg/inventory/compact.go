package inventory

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A run keeps the entries of all nodes. The line of an entry is three times as long as the
// parts that only this entry has. So entries share what many have, and don't keep lines.

// compact makes entries independent of the text that they were read from.
func compact(entries []Entry) {
	size := 0
	for i := range entries {
		for _, s := range entries[i].single() {
			size += len(*s)
		}
	}
	var own strings.Builder
	own.Grow(size)
	for i := range entries {
		r := &entries[i]
		for _, s := range r.single() {
			start := own.Len()
			own.WriteString(*s)
			*s = own.String()[start:]
		}
		for _, s := range []*string{&r.Kind, &r.Namespace, &r.ID, &r.APIVersion, &r.Template, &r.Defaults} {
			*s = lynq.Shared(*s)
		}
		r.Group, _ = lynq.SplitAPIVersion(r.APIVersion)
	}
}

// single returns the parts that hardly any other entry has.
func (r *Entry) single() [5]*string {
	return [...]*string{&r.Name, &r.UID, &r.Digest, &r.ResourceVersion, &r.Fields}
}

// compact makes a status share what many have. The decoder reserved room for more
// conditions and objects than it found.
func (s *Status) compact() {
	s.Conditions, s.Objects = exact(s.Conditions), exact(s.Objects)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		for _, text := range []*string{&c.Type, &c.Status, &c.Reason, &c.Message} {
			*text = lynq.Shared(*text)
		}
	}
	for i := range s.Objects {
		o := &s.Objects[i]
		for _, text := range []*string{&o.ID, &o.Group, &o.Kind, &o.Namespace, &o.Reason} {
			*text = lynq.Shared(*text)
		}
	}
}

// exact returns a copy without room for more, and nil for an empty list.
func exact[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return append(make([]T, 0, len(list)), list...)
}
