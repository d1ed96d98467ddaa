package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/doctest"
)

// wrongBlocks returns invalid blocks of YAML and JSON, and hubs and forms that lynqctl
// would refuse.
func wrongBlocks(p *doctest.Page) []doctest.Problem {
	var problems []doctest.Problem
	for _, b := range p.Blocks {
		var err error
		switch b.Lang {
		case "yaml":
			err = goodYAML(b.Text)
		case "json":
			err = goodJSON(b.Text)
		}
		if err != nil {
			problems = append(problems, doctest.Problem{Path: p.Path, Line: b.Line, What: err.Error()})
		}
	}
	return problems
}

// goodJSON accepts several values in a row.
func goodJSON(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("this is no JSON: %w", err)
		}
	}
}

// These texts complete fragments, and forms whose hub the page doesn't show.
const (
	hubHead  = "apiVersion: operator.lynq.sh/v1\nkind: LynqHub\nmetadata: {name: %q}\n"
	mappings = "  valueMappings: {uid: id, activate: active}\n"
	aSource  = "spec:\n  source: {type: csv, csv: {path: rows.csv}}\n"
)

// goodYAML checks documents. lynqctl must be able to load those of its own kinds. Of a hub,
// spec.source alone is enough.
func goodYAML(text string) error {
	inputs := ""
	hubs, wanted := map[string]bool{}, map[string]bool{}
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				HubID                 string `json:"hubId"`
				Source, ValueMappings any
				Files                 []string
				Kustomize             string
				Charts                []any
			}
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return fmt.Errorf("this is no YAML mapping: %w", err)
		}
		if object.Kind == "" && object.Spec.Source != nil {
			object.Kind = wellknown.KindHub
			document = fmt.Sprintf(hubHead, "part") + strings.TrimSuffix(document, "\n") + "\n"
			if object.Spec.ValueMappings == nil {
				document += mappings
			}
		}
		switch {
		case object.Kind == wellknown.KindHub:
			hubs[object.Metadata.Name] = true
		case object.Kind == wellknown.KindForm && object.Spec.Files == nil && object.Spec.Kustomize == "" && object.Spec.Charts == nil: // else only the page's session has its files
			wanted[object.Spec.HubID] = true
		default:
			continue
		}
		inputs += "---\n" + document + "\n"
	}
	if inputs == "" {
		return nil
	}
	for name := range wanted {
		if !hubs[name] {
			inputs += "---\n" + fmt.Sprintf(hubHead, name) + aSource + mappings
		}
	}
	load := form.Load
	if len(wanted) == 0 {
		load = form.LoadHubs
	}
	_, err := load([]string{"-"}, false, strings.NewReader(inputs))
	return err
}
