package rendercmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Template is a template to try on one row.
type Template struct{ Row, Text string }

// triedFile stands for the file of a tried template in messages.
const triedFile = "--template"

// tried is the object whose field value has the template. Fields of kinds that Kubernetes
// doesn't have take values of any type.
const tried = `{"apiVersion": "template.lynq.sh/v1", "kind": "Template", "metadata": {"name": "template"}, "value": %s}`

// Try renders a template for one row, as a field of a form, and writes the value: a text as
// it is, anything else as JSON.
func Try(ctx context.Context, e *session.Engine, o *Options, t Template, out io.Writer) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	inputs, err := load.Prepare(ctx, e, &o.RenderOptions, "")
	if err != nil {
		return err
	}
	program, err := o.compileTried(ctx, e, inputs, t)
	if err != nil {
		return err
	}
	settings, uid := o.Settings, strings.TrimSpace(t.Row)
	settings.Nodes = map[string]bool{naming.NodeName(uid, program.Form.Name): true}
	var value any
	run, err := load.RenderRows(ctx, e, &o.RenderOptions, settings, inputs, func(r *render.Run, in render.Input) error {
		for n, err := range render.Nodes(ctx, r, in, valueOf) {
			switch {
			case err != nil:
				return err
			case len(n.Problems) == 0:
				value = n.Out
			}
		}
		return nil
	})
	if err == nil && len(run.Missing()) > 0 {
		return session.BadUsage(fmt.Errorf("no active row %q (see the rows with lynqctl validate -f PATH --rows)", t.Row))
	}
	if err := o.Ended(run.Run, err); err != nil {
		return err
	}
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		if err != nil {
			return session.Fail(err)
		}
		text = string(encoded)
	}
	_, err = fmt.Fprintln(out, text)
	return session.Fail(err)
}

// valueOf returns the value of a tried template.
func valueOf(n *lynq.Node, _ []string) (any, error) {
	if len(n.Objects) == 0 {
		return nil, nil
	}
	var o struct {
		Value any `json:"value"`
	}
	decoder := json.NewDecoder(bytes.NewReader(n.Objects[0].Body))
	decoder.UseNumber() // a float64 would change large numbers
	err := decoder.Decode(&o)
	return o.Value, err
}

// compileTried replaces the objects of the only chosen form by one with the template. It
// refuses a template with a secret column, because a terminal shows the value.
func (o *Options) compileTried(ctx context.Context, e *session.Engine, inputs *load.Inputs, t Template) (*render.Program, error) {
	all := load.AllPrograms(inputs.Hubs)
	if len(all) != 1 {
		return nil, session.BadUsage(errors.New("--template needs one form, because variables such as .templateRef depend on it (choose it with --form)"))
	}
	text, err := json.Marshal(t.Text)
	if err != nil {
		return nil, session.Fail(err)
	}
	parsed := document.Parse(triedFile, fmt.Appendf(nil, tried, text))
	if len(parsed.Documents) != 1 || len(parsed.Problems) > 0 {
		return nil, session.BadInputs(parsed.Problems, "")
	}
	f := &form.Form{
		Pos: lynq.Pos{File: triedFile, Line: 1}, Name: all[0].Form.Name, Namespace: all[0].Form.Namespace, HubID: all[0].Form.HubID, HubIDPos: all[0].Form.HubIDPos, Spec: all[0].Form.Spec,
		Resources: []*form.Resource{{Pos: lynq.Pos{File: triedFile, Line: 1}, ID: "template", Section: "manifests", APIVersion: "template.lynq.sh/v1", Kind: "Template", Manifest: parsed.Documents[0]}},
	}
	options, err := o.Options([]*form.Form{f}, inputs.Inputs)
	if err != nil {
		return nil, err
	}
	options.AllowVarying = true
	hubs, problems := load.Compile(ctx, e, inputs.Inputs, []*form.Form{f}, options)
	if len(problems) == 0 {
		problems = hubs[0].Programs[0].Exposed()
	}
	if len(problems) > 0 {
		return nil, session.BadInputs(problems, "")
	}
	hubs[0].Key = inputs.Hubs[0].Key
	inputs.Hubs = hubs
	return hubs[0].Programs[0], nil
}
