package inventory

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A run keeps the entries of all nodes. A line is three times as long as the texts that only
// its entry has. So entries keep no line, and share the texts that many of them have.

// compact copies the texts of entries, so that the entries no longer keep their lines.
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

// single returns the texts that hardly any other entry has.
func (r *Entry) single() [5]*string {
	return [...]*string{&r.Name, &r.UID, &r.Digest, &r.ResourceVersion, &r.Fields}
}

// compact replaces the texts that many statuses have by shared ones. It drops the room for
// more conditions and objects, which the JSON decoder reserved.
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
