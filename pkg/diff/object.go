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
	// Action and Reason are those of the plan.
	Action, Reason string
	// Adopted is set if the object existed before the node had it.
	Adopted bool
	// Note says for people what lynqctl takes from whom, and what it couldn't try.
	Note string
	// Problem says why lynqctl couldn't change it, "" for no problem.
	Problem string
	// Skipped is set if lynqctl would leave it alone because another object has a Problem.
	Skipped bool
	// Tracking is set if labels, annotations and owners change that identify the node's objects.
	Tracking bool
	// Fields are the changed fields of an object that stays.
	Fields []Field
	// Cause is the cause for the whole object. Its Kind is "" if each field has its own.
	Cause Cause
	// Before and After are the sides as YAML, "" without an object. They are much longer than Diff,
	// so a caller that no longer needs them may drop them.
	Before, After string
	// Diff is a unified diff of the sides, "" if no content changes.
	Diff string
	// Effects are further facts of the plan about the change.
	Effects changeset.Effects
	// Findings are facts that a reviewer must know, the worst first.
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

// Unseen says what changes about an object without a diff.
func (o *Object) Unseen() string {
	if o.Cause.Kind == CausePolicy {
		return "only the policies change that the inventory records"
	}
	return OnlyTracking
}

// Compare fills in how an object would change, from the object as it is and as it would be. nil
// means that it doesn't exist.
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

// Causes returns the causes of an object, each once, in the order of its fields.
func (o *Object) Causes() []string {
	if len(o.Fields) == 0 && o.Cause.Kind != "" {
		return []string{o.Cause.String()}
	}
	return changeset.AtPlaces(len(o.Fields), o.edit().String(), func(i int) (string, string) {
		return o.Fields[i].Cause.String(), o.Fields[i].Cause.Form.String()
	})
}

// edit returns how the form changed, if that is a cause, or nil.
func (o *Object) edit() *changeset.Edit {
	for i := range o.Fields {
		if e := o.Fields[i].Cause.Edit; e != nil {
			return e
		}
	}
	return nil
}

// unified returns the unified diff of the sides.
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
