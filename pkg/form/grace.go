package form

import (
	"regexp"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form/document"
)

// graceField sets how long lynqctl keeps nodes whose rows are gone.
const graceField = "deletionGracePeriod"

// readGrace reads deletionGracePeriod of a hub or a form. It returns nil if the field is
// absent.
func readGrace(spec *object) *time.Duration {
	v := spec.get(graceField)
	if v == nil {
		return nil
	}
	t := Text{Pos: v.Pos, Text: v.Str}
	switch {
	case v.Kind == document.Int && v.Int == 0:
		return new(time.Duration)
	case v.Kind == document.Null:
		spec.fail(v.Pos, "write hours, minutes and seconds, such as 72h, or 0, or remove it", "%s is empty", spec.name(graceField))
		return nil
	case v.Kind != document.String:
		spec.fail(v.Pos, "write hours, minutes and seconds, such as 72h, or 0", "%s must be a time, found %s", spec.name(graceField), v.Describe())
		return nil
	}
	d, err := time.ParseDuration(t.Text)
	if err != nil || !regexp.MustCompile(`^([0-9]+h)?([0-9]+m)?([0-9]+s)?$|^0$`).MatchString(t.Text) {
		spec.fail(t.Pos, "write hours, minutes and seconds, such as 72h, or 0", "%s must be a time; found %q", spec.name(graceField), t.Text)
		return nil
	}
	return &d
}

// GraceIn returns how long lynqctl keeps the form's nodes after their rows are gone. The
// form's value wins over the hub's.
func (f *Form) GraceIn(h *Hub) time.Duration {
	for _, grace := range []*time.Duration{f.Grace, h.Grace} {
		if grace != nil {
			return *grace
		}
	}
	return 0
}
