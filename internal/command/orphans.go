package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/orphans"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func orphansCommand(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "orphans",
		Short: "List, adopt, and delete retained objects",
		Long: `Manage orphans. An orphan is an object that lynqctl kept when its node gave it
up, because its deletionPolicy retains it, or because you deleted the node with
--cascade=orphan. It has the label lynq.sh/orphaned=true. Its annotations record
when and why lynqctl kept it, and which node it came from.`,
	},
		orphansListCommand(a), orphansAdoptCommand(a), orphansPruneCommand(a),
	)
}

// orphanFlags select orphans, and the cluster.
type orphanFlags struct {
	list      orphans.ListOptions
	namespace string
	all       bool
	selector  string
	olderThan string
}

func (f *orphanFlags) register(flags *pflag.FlagSet) {
	q := &f.list.Query
	f.list.Access.Register(flags)
	cmdflags.RegisterKeptTo(flags, &f.list.Access)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace (default: from the kubeconfig context)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "search all namespaces, and objects without a namespace")
	flags.StringVarP(&f.selector, "selector", "l", "", "limit to objects that match this label selector")
	flags.StringSliceVar(&q.Reasons, "reason", nil, "limit to orphans with these reasons: "+strings.Join(orphan.Marked(), ", "))
	flags.StringSliceVar(&q.Hubs, "hub", nil, "limit to orphans from these hubs")
	flags.StringSliceVar(&q.Nodes, "node", nil, "limit to orphans from these nodes (NODE or NAMESPACE/NODE)")
	flags.StringVar(&f.olderThan, "older-than", "", "limit to orphans older than this, for example 12h or 30d")
	flags.IntVar(&q.AtOnce, "concurrency", orphan.DefaultAtOnce, "number of requests to send in parallel")
	cmdflags.RegisterTimeout(flags, &f.list.Timeout)
}

// check checks the flags, and completes the query.
func (f *orphanFlags) check(now time.Time) error {
	q := &f.list.Query
	q.Now = now
	if err := errors.Join(f.checkHubs(), f.checkReasons()); err != nil {
		return err
	}
	if f.olderThan != "" {
		age, err := orphan.ParseAge(f.olderThan)
		if err != nil {
			return session.BadUsage(fmt.Errorf("--older-than: %w", err))
		}
		q.OlderThan = age
	}
	selector, err := cmdflags.ParseSelector(f.selector)
	switch {
	case err != nil:
		return err
	case q.AtOnce < 1:
		return session.BadUsage(errors.New("--concurrency must be at least 1"))
	case selector != nil:
		q.Selector = selector.String()
	}
	if err := cmdflags.CheckTimeout(f.list.Timeout); err != nil {
		return err
	}
	q.Namespace, err = session.NamespacesMeant(&f.list.Access, f.namespace, f.all)
	q.Within = f.list.Access.Namespaces
	return err
}

// checkReasons refuses unknown reasons, and those that need --stranded.
func (f *orphanFlags) checkReasons() error {
	known := orphan.Marked()
	if f.list.Stranded {
		known = append(known, orphan.Stranding()...)
	}
	for _, r := range f.list.Query.Reasons {
		if !f.list.Stranded && slices.Contains(orphan.Stranding(), r) {
			return session.BadUsage(fmt.Errorf("--reason %s needs --stranded", r))
		}
		if err := cmdflags.OneOf("--reason", r, known...); err != nil {
			return err
		}
	}
	return nil
}

// checkHubs refuses a hub with a namespace, because orphans don't name their hub's.
func (f *orphanFlags) checkHubs() error {
	for _, hub := range f.list.Query.Hubs {
		if namespace, name, said := strings.Cut(hub, "/"); said {
			return session.BadUsage(fmt.Errorf("--hub: an orphan says only the name of its hub, and not its namespace: say %s, and --node NAMESPACE/NODE for those from nodes in a namespace such as %s", name, namespace))
		}
	}
	return nil
}

// parseRefs returns the objects that arguments name.
func parseRefs(args []string) (map[lynq.Ref]bool, error) {
	refs := map[lynq.Ref]bool{}
	var errs []error
	for _, arg := range args {
		ref, err := lynq.ParseRef(arg)
		errs = append(errs, err)
		refs[ref] = true
	}
	if err := errors.Join(errs...); err != nil {
		return nil, session.BadUsage(err)
	}
	return refs, nil
}

// namedOrphans returns the orphans that arguments name. It refuses names together with
// --all.
func namedOrphans(args []string, everything bool) (map[lynq.Ref]bool, error) {
	if len(args) > 0 && everything {
		return nil, session.BadUsage(errors.New("--all and names exclude each other"))
	}
	return parseRefs(args)
}
