package load

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Renames returns the former names of an input's forms, and collects those of rows while
// they are read. With all, it also collects which rows are active, even if nothing has a
// former name.
func Renames(in *render.Input, all bool) *lynq.Renames {
	r := &lynq.Renames{Forms: map[lynq.FormKey]lynq.FormKey{}, UIDs: map[string]string{}, Active: map[string]bool{}}
	for _, p := range in.Programs {
		if before := p.Form.RenamedFrom.Text; before != "" {
			now := FormKey(p.Form, in.Hub.Namespace)
			r.Forms[lynq.FormKey{Namespace: now.Namespace, Name: before}] = now
		}
	}
	if !all && len(r.Forms) == 0 && in.Programs[0].Hub.PreviousUID.Column == "" {
		return r
	}
	in.Renamed = func(uid, previous string) { r.UIDs[previous] = uid }
	active := in.Active
	in.Active = func(uid string, values []string) {
		r.Active[strings.TrimSpace(uid)] = true
		if active != nil {
			active(uid, values)
		}
	}
	return r
}
