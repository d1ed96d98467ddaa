package robust_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// edit changes the inputs as a line of a history says. If the line's hub, form, row or
// resource doesn't exist, it does nothing, so that the driver can drop earlier lines.
func edit(in model.Inputs, op string, args []string) error {
	edits := map[string]struct {
		arguments int
		do        func(model.Inputs, []string)
	}{
		"row":     {3, editRow},
		"column":  {4, editColumn},
		"hand":    {4, editHand},
		"rehub":   {3, editHub},
		"uid":     {3, editUID},
		"rename":  {2, editForm},
		"grace":   {2, editGrace},
		"move":    {3, editMove},
		"drop":    {2, func(in model.Inputs, a []string) { withForm(in, a[0], func(f *model.Form) { drop(f, a[1]) }) }},
		"add":     {2, func(in model.Inputs, a []string) { withForm(in, a[0], func(f *model.Form) { add(f, catalog(a[1])) }) }},
		"set":     {4, editResource},
		"exclude": {3, editExclude},
		"include": {1, editInclude},
		"stages":  {3, editStages},
		"revise":  {1, func(in model.Inputs, a []string) { withForm(in, a[0], func(f *model.Form) { f.Revision++ }) }},
		"tombstone": {2, func(in model.Inputs, a []string) {
			withForm(in, a[0], func(f *model.Form) { f.Tombstone = a[1] == "on" })
		}},
	}
	e, known := edits[op]
	if !known {
		return errUnknown
	}
	if len(args) != e.arguments {
		return fmt.Errorf("%s takes %d arguments, not %q", op, e.arguments, args)
	}
	e.do(in, args)
	return nil
}

var errUnknown = errors.New("unknown step")

func withForm(in model.Inputs, name string, do func(*model.Form)) {
	for i := range in {
		if f := in[i].Form(name); f != nil {
			do(f)
		}
	}
}

func withRow(in model.Inputs, hub, uid string, do func(*model.Row)) {
	if h := in.Hub(hub); h != nil {
		if r := h.Row(uid); r != nil {
			do(r)
		}
	}
}

// editRow HUB UID on|off|gone
func editRow(in model.Inputs, a []string) {
	h := in.Hub(a[0])
	if h == nil {
		return
	}
	if a[2] == "gone" {
		h.Rows = slices.DeleteFunc(h.Rows, func(r model.Row) bool { return r.UID == a[1] })
		return
	}
	if h.Row(a[1]) == nil {
		forget(h, a[1])
		h.Rows = append(h.Rows, newRow(a[1]))
	}
	h.Row(a[1]).Active = a[2] == "on"
}

// forget removes a former uid from all rows, because another row has it now.
func forget(h *model.Hub, uid string) {
	for i := range h.Rows {
		if h.Rows[i].Previous == uid {
			h.Rows[i].Previous = ""
		}
	}
}

// editUID HUB UID NEW: changes the uid of a row.
func editUID(in model.Inputs, a []string) {
	h := in.Hub(a[0])
	if h == nil || h.Row(a[1]) == nil || h.Row(a[2]) != nil {
		return
	}
	forget(h, a[1])
	forget(h, a[2])
	r := h.Row(a[1])
	r.Previous, r.UID = r.UID, a[2]
}

// editForm FORM NEW: changes the name of a form.
func editForm(in model.Inputs, a []string) {
	for _, h := range in {
		if h.Form(a[1]) != nil {
			return
		}
	}
	for i := range in {
		if f := in[i].Form(a[0]); f != nil {
			for k := range in[i].Forms {
				if other := &in[i].Forms[k]; other.Before == a[0] || other.Before == a[1] {
					other.Before = ""
				}
			}
			f.Before, f.Name = f.Name, a[1]
		}
	}
}

// editGrace HUB HOURS
func editGrace(in model.Inputs, a []string) {
	if h := in.Hub(a[0]); h != nil {
		hours, _ := strconv.Atoi(a[1])
		h.Grace = time.Duration(hours) * time.Hour
	}
}

// editColumn HUB UID COLUMN VALUE
func editColumn(in model.Inputs, a []string) {
	withRow(in, a[0], a[1], func(r *model.Row) { r.Columns[a[2]] = a[3] })
}

// editHand HUB FROM TO ALIAS: row TO gets the alias of FROM, and FROM another one.
func editHand(in model.Inputs, a []string) {
	withRow(in, a[0], a[1], func(from *model.Row) {
		withRow(in, a[0], a[2], func(to *model.Row) {
			to.Columns["alias"], from.Columns["alias"] = from.Columns["alias"], a[3]
		})
	})
}

// editHub UID FROM TO: moves a row to another hub.
func editHub(in model.Inputs, a []string) {
	from, to := in.Hub(a[1]), in.Hub(a[2])
	if from == nil || to == nil || from.Row(a[0]) == nil || to.Row(a[0]) != nil {
		return
	}
	forget(to, a[0])
	moved := *from.Row(a[0])
	moved.Previous = ""
	to.Rows = append(to.Rows, moved)
	from.Rows = slices.DeleteFunc(from.Rows, func(r model.Row) bool { return r.UID == a[0] })
}

// editMove ID FROM TO: moves a resource to another form.
func editMove(in model.Inputs, a []string) {
	withForm(in, a[1], func(from *model.Form) {
		r := from.Resource(a[0])
		if r == nil {
			return
		}
		moved := *r
		withForm(in, a[2], func(to *model.Form) {
			if to.Resource(a[0]) == nil {
				drop(from, a[0])
				add(to, moved)
			}
		})
	})
}

func drop(f *model.Form, id string) {
	f.Resources = slices.DeleteFunc(f.Resources, func(r model.Resource) bool { return r.ID == id })
}

func add(f *model.Form, r model.Resource) {
	if f.Resource(r.ID) == nil {
		f.Resources = append(f.Resources, r)
	}
}

// editResource FORM ID name|deletion|adoption|when|data|alias VALUE
func editResource(in model.Inputs, a []string) {
	withForm(in, a[0], func(f *model.Form) {
		r := f.Resource(a[1])
		if r == nil {
			return
		}
		switch value := a[3]; a[2] {
		case "name":
			r.Name = nameOf(value, r.ID)
		case "deletion":
			r.Deletion = value
		case "adoption":
			r.Adoption = value
		case "data":
			r.Data = value == "true"
		case "alias":
			r.Alias = value == "true"
		case "when":
			r.When = strings.TrimPrefix(value, "-")
		}
	})
}

// editStages FORM MAXFAILED -|STAGE,...: a STAGE is rows:N, percent:N or plan:VALUE. It has
// the suffix :pause if the rollout pauses after it.
func editStages(in model.Inputs, a []string) {
	withForm(in, a[0], func(f *model.Form) {
		f.Stages = nil
		f.MaxFailed, _ = strconv.Atoi(a[1])
		for _, stage := range strings.Split(strings.TrimPrefix(a[2], "-"), ",") {
			words := append(strings.Split(stage, ":"), "", "")
			n, _ := strconv.Atoi(words[1])
			s := model.Stage{Pause: words[2] == "pause"}
			switch words[0] {
			case "rows":
				s.Rows = n
			case "percent":
				s.Percent = n
			case "plan":
				s.Plan = words[1]
			default:
				continue
			}
			f.Stages = append(f.Stages, s)
		}
	})
}

// editExclude HUB|FORM KIND NAME
func editExclude(in model.Inputs, a []string) {
	rule := model.Rule{Kind: a[1], Name: a[2]}
	if h := in.Hub(a[0]); h != nil {
		h.Exclude = append(h.Exclude, rule)
	}
	withForm(in, a[0], func(f *model.Form) { f.Exclude = append(f.Exclude, rule) })
}

// editInclude HUB|FORM
func editInclude(in model.Inputs, a []string) {
	if h := in.Hub(a[0]); h != nil {
		h.Exclude = nil
	}
	withForm(in, a[0], func(f *model.Form) { f.Exclude = nil })
}
