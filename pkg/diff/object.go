package diff

import (
	"bytes"
	"fmt"

	textdiff "github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Object lists the changes of one object.
type Object struct {
	lynq.Ref
	APIVersion string
	ID         string // of the resource in its form
	// Action is what a plan calls what happens to it, and Reason why.
	Action, Reason string
	// Adopted: the object was there before the node had it.
	Adopted bool
	// Note is for people: what was taken from whom, what could not be tried.
	Note string
	// Problem is why it would not come to be as it is to be, "" where it would.
	Problem string
	// Skipped: it would be left as it is, since something else has a Problem.
	Skipped bool
	// Tracking: labels, annotations and owners change by which we know what is
	// ours.
	Tracking bool
	// Fields are those that change of an object that stays.
	Fields []Field
	// Cause is that of the whole object, Kind "" where each field has its own.
	Cause Cause
	// Before and After are the sides as YAML, "" where there is no object. They
	// are many times as long as Diff: who needs them no more may drop them.
	Before, After string
	// Diff is a unified diff of the sides, "" where no content changes.
	Diff string
	// Effects are what a plan knows of the change beside its fields.
	Effects changeset.Effects
	// Findings are what a reviewer must know of the change, the worst first.
	Findings []changeset.Code
}

// Changes reports whether anything would happen to the object.
func (o *Object) Changes() bool { return o.Diff != "" || o.Tracking || o.Cause.Kind == CausePolicy }

// Keep fills in an object that stays as it is. It changes if its policies protect it less than
// those that the inventory records.
func (o *Object) Keep() {
	change := o.change(&lynq.NodeID{})
	if o.Findings = changeset.Find(&change, o.Effects, nil); len(o.Findings) > 0 {
		o.Cause.Kind = CausePolicy
	}
}

// Unseen says what changes of an object without a diff.
func (o *Object) Unseen() string {
	if o.Cause.Kind == CausePolicy {
		return "only the policies change that the inventory records"
	}
	return OnlyTracking
}

// Compare fills in how an object would change, from the object as it is and as
// it would be; nil is that there is none.
func (o *Object) Compare(live, next map[string]any, origin Origin) error {
	before, after := clean(live), clean(next)
	origin.Secrets.hide(before, after)
	if live != nil && next != nil {
		o.Tracking = !same(bookkeeping(live), bookkeeping(next))
		o.Fields = fieldsOf(before, after)
		all := managersOf(live)
		for i := range o.Fields {
			f := &o.Fields[i]
			f.Columns, f.Cause = origin.columns(f.Path), origin.cause(f, all, live)
		}
	}
	o.Cause = Cause{Kind: origin.Whole}
	if o.Tracking && len(o.Fields) == 0 && o.Cause.Kind == "" {
		o.Cause.Kind = CauseTracking
	}
	var err error
	if o.Before, err = text(before); err != nil {
		return fmt.Errorf("%s as it is: %w", o.Ref, err)
	}
	if o.After, err = text(after); err != nil {
		return fmt.Errorf("%s as it would be: %w", o.Ref, err)
	}
	o.Diff = o.unified()
	if o.Changes() {
		change := o.change(&lynq.NodeID{})
		o.Findings = changeset.Find(&change, o.Effects, after)
	}
	return nil
}

func text(object map[string]any) (string, error) {
	if object == nil {
		return "", nil
	}
	b, err := yaml.Marshal(object)
	return string(b), err
}

// Causes are the causes of an object, each once, in the order of its fields.
func (o *Object) Causes() []string {
	if len(o.Fields) == 0 && o.Cause.Kind != "" {
		return []string{o.Cause.String()}
	}
	return changeset.AtPlaces(len(o.Fields), o.edit().String(), func(i int) (string, string) {
		return o.Fields[i].Cause.String(), o.Fields[i].Cause.Form.String()
	})
}

// edit says how the form changed that is a cause, or is nil.
func (o *Object) edit() *changeset.Edit {
	for i := range o.Fields {
		if e := o.Fields[i].Cause.Edit; e != nil {
			return e
		}
	}
	return nil
}

// unified is the unified diff of the sides.
func (o *Object) unified() string {
	if o.Before == o.After {
		return ""
	}
	from, to := "live/"+o.Full(), "next/"+o.Full()
	if o.Before == "" {
		from = "/dev/null"
	}
	if o.After == "" {
		to = "/dev/null"
	}
	d := textdiff.Diff(from, []byte(o.Before), to, []byte(o.After))
	_, d, _ = bytes.Cut(d, []byte("\n")) // its first line is a command
	return string(d)
}
