package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// completer finds out names for a command line that is still being written: from
// the inputs, where the line names some, else from the cluster. It gives nothing
// where it cannot.
type completer struct {
	*app
	ctx   context.Context // of the one question that it lives for
	flags *pflag.FlagSet
	begun string // the word that is to be completed
}

func (a *app) newCompleter(cmd *cobra.Command, begun string) (*completer, context.CancelFunc) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	_ = a.line.Environment(cmd) // what is wrong shows when the line is run
	return &completer{app: a, ctx: ctx, flags: cmd.Flags(), begun: begun}, cancel
}

// values are those of a flag of the line so far.
func (c *completer) values(name string) []string {
	f := c.flags.Lookup(name)
	if f == nil || !f.Changed && !slices.Contains(c.line.Defaults, f) {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

func (c *completer) isSet(name string) bool {
	values := c.values(name)
	return len(values) == 1 && values[0] == "true"
}

func (c *completer) hubs() []string {
	if c.aboutOperator() {
		return c.operated(lynq.KindHub)
	}
	inputs := c.inputs()
	if inputs == nil {
		return c.recordedKeys(hubOfRecord)
	}
	return engine.HubNames(inputs)
}

func (c *completer) forms() []string {
	if c.aboutOperator() {
		return c.operated(lynq.KindForm)
	}
	inputs := c.inputs()
	if inputs == nil {
		return c.recordedKeys(formOfRecord)
	}
	return engine.FormNames(inputs)
}

func (c *completer) nodes() []string {
	if c.aboutOperator() {
		return c.operated(lynq.KindNode)
	}
	inputs := c.inputs()
	if inputs != nil {
		return c.app.engine("").NodeNames(c.ctx, &engine.RenderOptions{
			InputOptions: engine.InputOptions{Hubs: c.values("hub"), Forms: c.values("form")},
			Namespace:    c.namespaceFlag(), Sources: c.values("source"),
		}, inputs)
	}
	return c.recorded(c.nodeNamespace(), func(m *metav1.PartialObjectMetadata) string {
		node, ours := strings.CutPrefix(m.Name, inventory.Name(""))
		if !ours || m.Labels[lynq.LabelRecord] != lynq.RecordNode {
			return ""
		}
		return node
	})
}

// typed are the names of the type that a word begins with, as TYPE/NAME.
func (c *completer) typed() []string {
	word, _, found := strings.Cut(c.begun, "/")
	namesOf := map[string]func() []string{"node": c.nodes, "hub": c.hubs, "form": c.forms}[typeOf(word)]
	if !found || namesOf == nil {
		return nil
	}
	names := namesOf()
	for i := range names {
		names[i] = word + "/" + names[i]
	}
	return names
}

// inputs are those that the line names, nil where it names none. Standard input
// is not ours to read.
func (c *completer) inputs() *form.Inputs {
	var paths []string
	for _, p := range c.values("filename") {
		if p != "-" {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	inputs, _ := form.Load(paths, c.isSet("recursive"), strings.NewReader("")) // what is wrong shows when the line is run
	return inputs
}
