package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// registerInputs registers what names and narrows hubs and forms.
func registerInputs(flags *pflag.FlagSet, o *engine.InputOptions) {
	registerFiles(flags, o)
	flags.StringSliceVar(&o.Hubs, "hub", nil, "only these hubs, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&o.Forms, "form", nil, "only these forms, as NAME or NAMESPACE/NAME")
}

// registerFiles registers what names hubs and forms.
func registerFiles(flags *pflag.FlagSet, o *engine.InputOptions) {
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil, "file or directory with hubs and forms, '-' for standard input (may be repeated)")
	flags.BoolVarP(&o.Recursive, "recursive", "R", false, "read sub-directories too")
}

// clusterFlagSet are kubectl's flags, which many commands have.
func clusterFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	(&kube.Access{}).Register(flags)
	return flags
}

// renderFlags are the flags of all commands that read rows.
type renderFlags struct {
	engine.RenderOptions
	nodes    []string
	selector string
	format   string
}

// registerLocal registers those of kubectl's flags that a command has which asks a
// cluster only for what the inputs do not have.
func (f *renderFlags) registerLocal(flags *pflag.FlagSet) {
	registerInputs(flags, &f.InputOptions)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the nodes, whatever the inputs say")
	registerLocalAccess(flags, &f.Access)
	f.registerSources(flags)
	flags.IntVar(&f.Settings.Workers, "concurrency", 0, "rows to render at once (0: one per processor)")
}

func registerLocalAccess(flags *pflag.FlagSet, access *kube.Access) {
	flags.StringVar(&access.Kubeconfig, "kubeconfig", "", "kubeconfig, asked only for what the inputs do not have: a namespace, a Secret with a password")
	flags.StringVar(&access.Context, "context", "", "context of the kubeconfig")
}

// registerCluster registers kubectl's flags, for commands that write to a cluster.
func (f *renderFlags) registerCluster(flags *pflag.FlagSet) {
	registerInputs(flags, &f.InputOptions)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the nodes, whatever the inputs say")
	f.Access.Register(flags)
	f.registerSources(flags)
}

func (f *renderFlags) registerSources(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Sources, "source", nil, "read rows from this URL instead of the hub's source; HUB=URL where there are several hubs")
	registerTimeout(flags, &f.Timeout)
}

// check checks the flags, and makes settings of them.
func (f *renderFlags) check() error {
	s := &f.Settings
	s.KeepGoing = f.KeepGoing
	if err := errors.Join(oneOf("-o", f.format, "yaml", "json"), checkTimeout(f.Timeout)); err != nil {
		return err
	}
	if f.format == "json" {
		s.Format = render.JSON
	}
	if s.Workers < 0 {
		return engine.BadUsage(errors.New("--concurrency cannot be negative"))
	}
	if err := engine.CheckNamespace(f.Namespace); err != nil {
		return err
	}
	selector, err := parseSelector(f.selector)
	if err != nil {
		return err
	}
	if s.Selector = selector; len(f.nodes) == 0 {
		return nil
	}
	s.Nodes = map[string]bool{}
	for _, n := range f.nodes {
		s.Nodes[n] = true
	}
	return nil
}

// registerNoFinalizer registers what commands have that make inventories.
func registerNoFinalizer(flags *pflag.FlagSet, without *bool) {
	flags.BoolVar(without, "no-finalizer", false, "make inventories without the finalizer that lets a deletion by hand be cleaned up")
}

// runFlags are the flags of all commands that carry plans out.
type runFlags struct {
	engine.RunOptions
	dryRun string
	output string
}

func defaultRunFlags() runFlags {
	return runFlags{RunOptions: engine.DefaultRunOptions(), dryRun: string(engine.ModeRun), output: "table"}
}

func (f *runFlags) registerRun(flags *pflag.FlagSet) {
	f.registerOutput(flags)
	flags.DurationVar(&f.LockTimeout, "lock-timeout", f.LockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.Concurrency, "concurrency", f.Concurrency, "nodes to write at once")
	flags.BoolVar(&f.Events, "events", f.Events, "record Kubernetes events on inventories")
}

// registerOutput registers what also commands have that touch no inventories.
// eventStream annotates a flag that may ask for events.
const eventStream = "events"

func (f *runFlags) registerOutput(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", f.output, "table, wide, name or yaml for a report; json for one event per line")
	flags.Lookup("output").Annotations = map[string][]string{eventStream: nil}
	flags.StringVar(&f.dryRun, "dry-run", f.dryRun, "none, client (print the plan) or server (have the server try every write)")
}

func (f *runFlags) checkRun() error {
	if err := oneOf("--dry-run", f.dryRun, engine.ModeRun, engine.ModeClient, engine.ModeServer); err != nil {
		return err
	}
	f.Mode = engine.Mode(f.dryRun)
	if err := oneOf("-o", f.output, "table", "wide", "name", "yaml", "json"); err != nil {
		return err
	}
	switch {
	case f.Concurrency < 1:
		return engine.BadUsage(errors.New("--concurrency must be at least 1"))
	case f.LockTimeout < 0:
		return engine.BadUsage(errors.New("--lock-timeout cannot be negative"))
	}
	return nil
}

// parseSelector reads what -l says, nil for nothing.
func parseSelector(text string) (labels.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, engine.BadUsage(fmt.Errorf("-l: %w (write labels as kubectl takes them: tier=front,env!=test)", err))
	}
	return selector, nil
}

// oneOf checks the value of a flag that takes one of some words.
func oneOf[T ~string](flag, value string, allowed ...T) error {
	words := make([]string, len(allowed))
	for i, w := range allowed {
		if value == string(w) {
			return nil
		}
		words[i] = string(w)
	}
	return engine.BadUsage(fmt.Errorf("%s %q is unknown; it takes %s", flag, value, strings.Join(words, ", ")))
}

func registerTimeout(flags *pflag.FlagSet, timeout *time.Duration) {
	flags.DurationVar(timeout, "timeout", 0, "give up after this time (0: never)")
}

func checkTimeout(timeout time.Duration) error {
	if timeout < 0 {
		return engine.BadUsage(errors.New("--timeout cannot be negative"))
	}
	return nil
}
