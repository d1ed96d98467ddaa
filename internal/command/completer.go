package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/completion"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
)

// completer reads an unfinished command line, and offers names for it.
type completer struct {
	app   *app
	ctx   context.Context // for the one question of this completer
	flags *pflag.FlagSet
	begun string // the word to complete
}

func newCompleter(a *app, cmd *cobra.Command, begun string) (*completer, context.CancelFunc) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	_ = a.line.Environment(cmd) // the command itself reports what is wrong
	c := &completer{app: a, flags: cmd.Flags(), begun: begun}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(ctx, c.patience())
	return c, cancel
}

// patience returns how long the shell may wait.
func (c *completer) patience() time.Duration {
	for _, value := range c.values(clientcmd.FlagTimeout) {
		if d, err := clientcmd.ParseTimeout(value); err == nil && d > 0 {
			return d
		}
	}
	return completionPatience
}

// values returns the values of a flag in the line so far.
func (c *completer) values(name string) []string {
	f := c.flags.Lookup(name)
	if f == nil || !f.Changed && !slices.Contains(c.app.line.Defaults, f) {
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

// offers returns the offers for the line so far.
func (c *completer) offers() *completion.Offers {
	o := &completion.Options{
		RenderOptions: load.RenderOptions{
			Inputs:  load.InputOptions{Paths: c.values("filename"), Recursive: c.isSet("recursive"), Hubs: c.values("hub"), Forms: c.values("form")},
			Sources: c.values("source"),
		},
		Everywhere: c.isSet("all-namespaces"),
		Operated:   c.flags.Lookup("operator-namespace") != nil,
		BareHubs:   c.flags.Lookup("older-than") != nil,
	}
	if values := c.values("output-dir"); len(values) == 1 && c.flags.Lookup("filename") == nil {
		o.Tree = values[0]
	}
	if c.flags.Lookup("form") == nil {
		o.Inputs.Paths = nil // -f narrows nothing: the objects to delete may be missing from these inputs
	}
	if values := c.values("namespace"); len(values) == 1 {
		o.Namespace = values[0]
	}
	access := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Access.Register(access)
	access.VisitAll(func(f *pflag.Flag) {
		for _, value := range c.values(f.Name) {
			_ = access.Set(f.Name, value) // it parsed without an error before
		}
	})
	return completion.New(c.app.Engine(""), o)
}

// typed returns names as TYPE/NAME, of the type at the start of the word.
func (c *completer) typed() []string {
	word, _, found := strings.Cut(c.begun, "/")
	namesOf := map[string]offer{"node": (*completion.Offers).Nodes, "hub": (*completion.Offers).Hubs, "form": (*completion.Offers).Forms}[cmdflags.TypeOf(word)]
	if !found || namesOf == nil {
		return nil
	}
	names := namesOf(c.offers(), c.ctx)
	for i := range names {
		names[i] = word + "/" + names[i]
	}
	return names
}

// typedOrNode returns names as TYPE/NAME, or names of nodes if the word has no type.
func (c *completer) typedOrNode() []string {
	if strings.Contains(c.begun, "/") {
		return c.typed()
	}
	return offer((*completion.Offers).Nodes).of(c)
}

// offer returns names of some kind.
type offer func(*completion.Offers, context.Context) []string

// of returns the offered names.
func (o offer) of(c *completer) []string { return o(c.offers(), c.ctx) }
