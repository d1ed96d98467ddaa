package lynqctl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// registerInputs registers what names and narrows hubs and forms.
func registerInputs(flags *pflag.FlagSet, o *load.InputOptions) {
	registerFiles(flags, o)
	flags.StringSliceVar(&o.Hubs, "hub", nil, "limit to these hubs (NAME or NAMESPACE/NAME)")
	flags.StringSliceVar(&o.Forms, "form", nil, "limit to these forms (NAME or NAMESPACE/NAME)")
}

// registerFiles registers what names hubs and forms.
func registerFiles(flags *pflag.FlagSet, o *load.InputOptions) {
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil, "file or directory with hubs and forms, or '-' for stdin; repeatable")
	flags.BoolVarP(&o.Recursive, "recursive", "R", false, "read subdirectories")
}

// clusterFlagSet are kubectl's flags, which many commands have.
func clusterFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	(&kube.Access{}).Register(flags)
	return flags
}

// renderFlags are the flags of all commands that read rows.
type renderFlags struct {
	options  load.RenderOptions
	nodes    []string
	selector string
	format   string
}

// registerLocal registers those of kubectl's flags that a command has which asks a
// cluster only for what the inputs do not have.
func (f *renderFlags) registerLocal(flags *pflag.FlagSet) {
	registerInputs(flags, &f.options.Inputs)
	flags.StringVarP(&f.options.Namespace, "namespace", "n", "", "namespace for all nodes (overrides your files)")
	registerLocalAccess(flags, &f.options.Access)
	f.registerSources(flags)
	flags.IntVar(&f.options.Settings.Workers, "concurrency", 0, "number of rows to render in parallel (0 means one per processor)")
}

func registerLocalAccess(flags *pflag.FlagSet, access *kube.Access) {
	flags.StringVar(&access.Kubeconfig, "kubeconfig", "", "kubeconfig; used only to look up a namespace or a password Secret that your files don't contain")
	flags.StringVar(&access.Context, "context", "", "kubeconfig context to use")
}

// registerCluster registers kubectl's flags, for commands that write to a cluster.
func (f *renderFlags) registerCluster(flags *pflag.FlagSet) {
	registerInputs(flags, &f.options.Inputs)
	flags.StringVarP(&f.options.Namespace, "namespace", "n", "", "namespace for all nodes (overrides your files)")
	f.options.Access.Register(flags)
	f.registerSources(flags)
}

func (f *renderFlags) registerSources(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.options.Sources, "source", nil, "read rows from this URL instead of the hub's source (HUB=URL if you have several hubs)")
	registerTimeout(flags, &f.options.Timeout)
}

// check checks the flags, and makes settings of them.
func (f *renderFlags) check() error {
	s := &f.options.Settings
	s.KeepGoing = f.options.KeepGoing
	if err := errors.Join(oneOf("-o", f.format, "yaml", "json", formatKYAML), checkTimeout(f.options.Timeout)); err != nil {
		return err
	}
	if f.format == "json" {
		s.Format = render.JSON
	}
	if s.Workers < 0 {
		return session.BadUsage(errors.New("--concurrency cannot be negative"))
	}
	if err := session.CheckNamespace(f.options.Namespace); err != nil {
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
	flags.BoolVar(without, "no-finalizer", false, "create inventories without a finalizer (deleting one with kubectl then deletes its objects at once)")
}

// runFlags are the flags of all commands that carry plans out.
type runFlags struct {
	session.RunOptions
	dryRun string
	output string
}

func defaultRunFlags() runFlags {
	return runFlags{RunOptions: session.DefaultRunOptions(), dryRun: string(session.ModeRun), output: "table"}
}

func (f *runFlags) registerRun(flags *pflag.FlagSet) {
	f.registerOutput(flags)
	flags.DurationVar(&f.LockTimeout, "lock-timeout", f.LockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.Concurrency, "concurrency", f.Concurrency, "number of nodes to process in parallel")
	flags.BoolVar(&f.Events, "events", f.Events, "emit Kubernetes events")
}

// registerOutput registers what also commands have that touch no inventories.
// eventStream annotates a flag that may ask for events.
const eventStream = "events"

func (f *runFlags) registerOutput(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", f.output, "output format: table, wide, name, yaml, or json (one event per line)")
	flags.Lookup("output").Annotations = map[string][]string{eventStream: nil}
	flags.StringVar(&f.dryRun, "dry-run", f.dryRun, "none, client (print the plan), or server (also submit every write as a server-side dry run)")
}

func (f *runFlags) checkRun() error {
	if err := oneOf("--dry-run", f.dryRun, session.ModeRun, session.ModeClient, session.ModeServer); err != nil {
		return err
	}
	f.Mode = session.Mode(f.dryRun)
	if err := oneOf("-o", f.output, "table", "wide", "name", "yaml", "json"); err != nil {
		return err
	}
	switch {
	case f.Concurrency < 1:
		return session.BadUsage(errors.New("--concurrency must be at least 1"))
	case f.LockTimeout < 0:
		return session.BadUsage(errors.New("--lock-timeout cannot be negative"))
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
		return nil, session.BadUsage(fmt.Errorf("-l: %w (write labels as kubectl takes them: tier=front,env!=test)", err))
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
	return session.BadUsage(fmt.Errorf("%s %q is unknown; it takes %s", flag, value, strings.Join(words, ", ")))
}

func registerTimeout(flags *pflag.FlagSet, timeout *time.Duration) {
	flags.DurationVar(timeout, "timeout", 0, "stop after this time, for example 5m (0 means no limit)")
}

func checkTimeout(timeout time.Duration) error {
	if timeout < 0 {
		return session.BadUsage(errors.New("--timeout cannot be negative"))
	}
	return nil
}
