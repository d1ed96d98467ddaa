package main

import (
	"encoding/json"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// mostExplained is how many changed objects a report looks into.
const mostExplained = 1000

// treeReport is the report of -o json. A run that is refused has refusals only.
type treeReport struct {
	Dir    string `json:"dir"`
	DryRun bool   `json:"dryRun"`
	*gitops.Report
	Refusals []gitops.Refusal `json:"refusals,omitempty"`
	// Losses are the policies that the target does not honour.
	Losses []gitops.Loss `json:"losses,omitempty"`
}

// show tells what has changed, or what would.
func (j *dirJob) show(r *gitops.Report) error {
	var err error
	switch j.flags.dir.report {
	case "json":
		r.Explain(mostExplained, j.fieldsOf)
		err = j.writeJSON(&treeReport{Dir: j.flags.dir.dir, DryRun: j.flags.dir.dryRun, Report: r})
	case "markdown":
		r.Explain(mostExplained, j.fieldsOf)
		err = r.WriteMarkdown(j.stdout)
	default:
		err = r.WriteTable(j.stderr, j.flags.dir.dryRun)
	}
	if err != nil {
		return failed(fmt.Errorf("write the report: %w", err))
	}
	return nil
}

// refuse tells what guards have against the run.
func (j *dirJob) refuse(refusals []gitops.Refusal) error {
	const most = 20
	for i, r := range refusals {
		if i == most {
			_, _ = fmt.Fprintf(j.stderr, "... and %d more\n", len(refusals)-most)
			break
		}
		_, _ = fmt.Fprintln(j.stderr, "refused:", r)
	}
	if j.flags.dir.report == "json" {
		if err := j.writeJSON(&treeReport{Dir: j.flags.dir.dir, DryRun: j.flags.dir.dryRun, Refusals: refusals}); err != nil {
			return failed(fmt.Errorf("write the report: %w", err))
		}
	}
	return &exitError{code: exitRefused, err: errSaid, summary: j.flags.nothing}
}

func (j *dirJob) writeJSON(r *treeReport) error {
	r.Losses = j.flags.target.losses
	e := json.NewEncoder(j.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// fieldsOf is a gitops.FieldsOf.
func (j *dirJob) fieldsOf(hub gitops.HubKey, form lynq.FormKey, resource string) []render.FieldColumns {
	for _, h := range j.hubs {
		for _, p := range h.programs {
			if hubKey(h.hub) == hub && declaredKey(p.Form) == form {
				return p.Fields(resource)
			}
		}
	}
	return nil
}
