package cmdflags

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// RegisterInputs registers the flags that name and narrow hubs and forms.
func RegisterInputs(flags *pflag.FlagSet, o *load.InputOptions) {
	RegisterFiles(flags, o)
	flags.StringSliceVar(&o.Hubs, "hub", nil, "limit to these hubs (NAME or NAMESPACE/NAME)")
	flags.StringSliceVar(&o.Forms, "form", nil, "limit to these forms (NAME or NAMESPACE/NAME)")
}

// RegisterFiles registers the flags that name the files of hubs and forms.
func RegisterFiles(flags *pflag.FlagSet, o *load.InputOptions) {
	flags.StringArrayVarP(&o.Paths, "filename", "f", nil, "file or directory with hubs and forms, or '-' for stdin; repeatable")
	flags.BoolVarP(&o.Recursive, "recursive", "R", false, "read subdirectories")
}

// RegisterStrict registers the flag that turns warnings about forms into errors.
func RegisterStrict(flags *pflag.FlagSet, o *load.InputOptions) {
	flags.BoolVar(&o.Strict, "strict", false, "fail if a form shows a secret column outside a Secret")
}

// Cluster returns kubectl's flags, which many commands have.
func Cluster() *pflag.FlagSet {
	flags := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	(&kube.Access{}).Register(flags)
	return flags
}

// KYAML is the output format of YAML without significant white space, as kubectl prints it.
const KYAML = "kyaml"

// Names is the output format of names alone, one on a line.
const Names = "name"

// Render holds the flags of all commands that read rows.
type Render struct {
	Options  load.RenderOptions
	Nodes    []string
	Selector string
	Format   string
	shard    shardFlags
}

// RegisterLocal registers the flags for commands that ask a cluster only for what the
// inputs lack. They have only some of kubectl's flags.
func (f *Render) RegisterLocal(flags *pflag.FlagSet) {
	RegisterInputs(flags, &f.Options.Inputs)
	flags.StringVarP(&f.Options.Namespace, "namespace", "n", "", "namespace for all nodes (overrides your files)")
	RegisterLocalAccess(flags, &f.Options.Access)
	f.registerSources(flags)
	f.registerCapabilities(flags, "Helm's", "none")
	flags.IntVar(&f.Options.Settings.Workers, "concurrency", 0, "number of rows to render in parallel (0 means one per processor, or 16 with charts)")
}

// RegisterLocalAccess registers kubectl's flags that select the cluster.
func RegisterLocalAccess(flags *pflag.FlagSet, access *kube.Access) {
	flags.StringVar(&access.Kubeconfig, "kubeconfig", "", "kubeconfig; used only to look up a namespace or a password Secret that your files don't contain")
	flags.StringVar(&access.Context, "context", "", "kubeconfig context to use")
}

// RegisterKeptTo registers the flag for people who have permissions only in some namespaces.
func RegisterKeptTo(flags *pflag.FlagSet, access *kube.Access) {
	flags.StringSliceVar(&access.Namespaces, "namespaces", nil, "work only in these namespaces, for people without permissions in the whole cluster")
}

// RegisterCluster registers kubectl's flags, for commands that write to a cluster.
func (f *Render) RegisterCluster(flags *pflag.FlagSet) {
	RegisterInputs(flags, &f.Options.Inputs)
	flags.StringVarP(&f.Options.Namespace, "namespace", "n", "", "namespace for all nodes (overrides your files)")
	f.Options.Access.Register(flags)
	f.registerSources(flags)
	f.registerCapabilities(flags, "the cluster's", "those of the cluster")
}

func (f *Render) registerSources(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Options.Sources, "source", nil, "read rows from this URL instead of the hub's source (HUB=URL if you have several hubs)")
	RegisterTimeout(flags, &f.Options.Timeout)
}

// registerCapabilities registers the flags with what charts see of a cluster.
func (f *Render) registerCapabilities(flags *pflag.FlagSet, version, versions string) {
	given := &f.Options.Inputs.Capabilities.Given
	flags.StringVar(&given.KubeVersion, "kube-version", "", "version of Kubernetes that charts see, for example 1.33 (default: "+version+")")
	flags.StringSliceVar(&given.APIVersions, "api-versions", nil, "API versions that charts see besides Helm's, as group/version or group/version/Kind (default: "+versions+")")
}

// Check checks the flags and turns them into settings.
func (f *Render) Check() error {
	s := &f.Options.Settings
	s.KeepGoing = f.Options.KeepGoing
	if err := errors.Join(OneOf("-o", f.Format, "yaml", "json", KYAML, Names), CheckTimeout(f.Options.Timeout)); err != nil {
		return err
	}
	if f.Format == "json" {
		s.Format = render.JSON
	}
	if s.Workers < 0 {
		return session.BadUsage(errors.New("--concurrency cannot be negative"))
	}
	if err := session.CheckKeptTo(&f.Options.Access, f.Options.Namespace); err != nil {
		return err
	}
	if err := errors.Join(f.checkShard(), checkCapabilities(&f.Options.Inputs.Capabilities.Given)); err != nil {
		return err
	}
	selector, err := ParseSelector(f.Selector)
	if err != nil {
		return err
	}
	if s.Selector = selector; len(f.Nodes) == 0 {
		return nil
	}
	s.Nodes = map[string]bool{}
	for _, n := range f.Nodes {
		s.Nodes[n] = true
	}
	return nil
}

// checkCapabilities checks the capabilities of charts, because a typing error in one would
// leave objects out.
func checkCapabilities(given *load.Capabilities) error {
	if v := given.KubeVersion; v != "" && !regexp.MustCompile(`^v?\d+\.\d+(\.\d+)?([-+][-+.0-9A-Za-z]+)?$`).MatchString(v) {
		return session.BadUsage(fmt.Errorf("--kube-version %q is not a version; write one such as 1.33 or v1.33.4", v))
	}
	for _, v := range given.APIVersions {
		if !regexp.MustCompile(`^([-.a-z0-9]+/)?v\d+((alpha|beta)\d+)?(/[A-Z][0-9A-Za-z]*)?$`).MatchString(v) {
			return session.BadUsage(fmt.Errorf("--api-versions %q is not an API version; write group/version or group/version/Kind, such as monitoring.coreos.com/v1/ServiceMonitor", v))
		}
	}
	return nil
}

// RegisterNoFinalizer registers the flag of commands that create inventories.
func RegisterNoFinalizer(flags *pflag.FlagSet, without *bool) {
	flags.BoolVar(without, "no-finalizer", false, "create inventories without a finalizer (who deletes one with kubectl then deletes its objects)")
}

// RegisterNoGrace registers the flag that deletes nodes before their grace period ends.
func RegisterNoGrace(flags *pflag.FlagSet, noGrace *bool) {
	flags.BoolVar(noGrace, "no-grace", false, "delete the nodes of --node at once if their rows are gone, whatever their deletionGracePeriod")
}

// CheckNoGrace refuses --no-grace for a whole run.
func CheckNoGrace(noGrace bool, nodes []string) error {
	if noGrace && len(nodes) == 0 {
		return session.BadUsage(errors.New("--no-grace is for named nodes: name them with --node"))
	}
	return nil
}

// Run holds the flags of all commands that carry out plans.
type Run struct {
	session.RunOptions
	DryRun string
	Output string
	// Expanded are the groups that a dry run shows step by step.
	Expanded ui.Expand

	expand Expand
}

// NewRun returns the flags with their defaults.
func NewRun() Run {
	return Run{RunOptions: session.DefaultRunOptions(), DryRun: string(session.ModeRun), Output: "table"}
}

// Register registers the flags.
func (f *Run) Register(flags *pflag.FlagSet) {
	f.RegisterOutput(flags)
	f.RegisterPace(flags)
}

// RegisterPace registers the flags for waiting and for parallel work.
func (f *Run) RegisterPace(flags *pflag.FlagSet) {
	flags.DurationVar(&f.LockTimeout, "lock-timeout", f.LockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.Concurrency, "concurrency", f.Concurrency, "number of nodes to process in parallel")
	flags.BoolVar(&f.Events, "events", f.Events, "emit Kubernetes events")
}

// EventStream annotates a flag whose value may ask for events.
const EventStream = "events"

// RegisterOutput registers the flags that commands without inventories also have.
func (f *Run) RegisterOutput(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Output, "output", "o", f.Output, "output format: table, wide, name, yaml, or json (one event per line)")
	flags.Lookup("output").Annotations = map[string][]string{EventStream: nil}
	flags.StringVar(&f.DryRun, "dry-run", f.DryRun, "none, client (print the plan; also without a value), or server (also submit every write as a server-side dry run)")
	flags.Lookup("dry-run").NoOptDefVal = string(session.ModeClient)
}

// RegisterExpand registers the flag that shows more of a dry run's plan.
func (f *Run) RegisterExpand(flags *pflag.FlagSet) {
	f.expand.Register(flags)
	flags.Lookup("expand").Usage = "with --dry-run: " + flags.Lookup("expand").Usage
}

// Check checks the flags, and completes the options.
func (f *Run) Check() error {
	if err := OneOf("--dry-run", f.DryRun, session.ModeRun, session.ModeClient, session.ModeServer); err != nil {
		return err
	}
	f.Mode = session.Mode(f.DryRun)
	expanded, err := f.expand.Groups()
	if err != nil {
		return err
	}
	if f.Expanded = expanded; f.Mode == session.ModeRun && expanded != (ui.Expand{}) {
		return session.BadUsage(errors.New("--expand shows more of a plan: add --dry-run=client"))
	}
	if err := OneOf("-o", f.Output, "table", "wide", "name", "yaml", "json"); err != nil {
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

// ParseSelector parses the value of -l. It returns nil for an empty one.
func ParseSelector(text string) (labels.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("-l: %w (write labels as kubectl takes them: tier=front,env!=test)", err))
	}
	return selector, nil
}

// OneOf checks that the value of a flag is one of the allowed words.
func OneOf[T ~string](flag, value string, allowed ...T) error {
	words := make([]string, len(allowed))
	for i, w := range allowed {
		if value == string(w) {
			return nil
		}
		words[i] = string(w)
	}
	return session.BadUsage(fmt.Errorf("%s %q is unknown; it takes %s", flag, value, strings.Join(words, ", ")))
}

// RegisterTimeout registers the flag that limits the time of a command.
func RegisterTimeout(flags *pflag.FlagSet, timeout *time.Duration) {
	flags.DurationVar(timeout, "timeout", 0, "stop after this time, for example 5m (0 means no limit)")
}

// CheckTimeout refuses a negative --timeout.
func CheckTimeout(timeout time.Duration) error {
	if timeout < 0 {
		return session.BadUsage(errors.New("--timeout cannot be negative"))
	}
	return nil
}
