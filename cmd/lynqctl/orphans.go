package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func (a *app) orphansCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "orphans",
		Short: "Look after what nodes left behind",
		Long: `Objects with deletion policy Retain stay when their node is deleted or no longer
wants them. They then have the label lynq.sh/orphaned=true, and annotations that
say since when, why, and from which node.`,
	},
		a.orphansListCommand(), a.orphansAdoptCommand(), a.orphansPruneCommand(),
	)
}

// orphanFlags say which orphans are meant, and in which cluster.
type orphanFlags struct {
	engine.OrphanOptions
	namespace string
	all       bool
	selector  string
	olderThan string
}

func (f *orphanFlags) register(flags *pflag.FlagSet) {
	q := &f.Query
	f.Access.Register(flags)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the orphans (default: the context's)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "orphans of all namespaces, and those without one")
	flags.StringVarP(&f.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them")
	flags.StringSliceVar(&q.Reasons, "reason", nil, "only orphans for these reasons: "+strings.Join(orphan.Marked(), ", "))
	flags.StringSliceVar(&q.Hubs, "hub", nil, "only orphans from these hubs")
	flags.StringSliceVar(&q.Nodes, "node", nil, "only orphans from these nodes, as NODE or NAMESPACE/NODE")
	flags.StringVar(&f.olderThan, "older-than", "", "only what was orphaned longer ago, such as 12h or 30d")
	flags.IntVar(&q.AtOnce, "concurrency", orphan.DefaultAtOnce, "requests to send at once")
	registerTimeout(flags, &f.Timeout)
}

// check checks the flags, and completes the query.
func (f *orphanFlags) check(now time.Time) error {
	q := &f.Query
	q.Now = now
	if err := errors.Join(f.checkHubs(), f.checkReasons()); err != nil {
		return err
	}
	if f.olderThan != "" {
		age, err := orphan.ParseAge(f.olderThan)
		if err != nil {
			return engine.BadUsage(fmt.Errorf("--older-than: %w", err))
		}
		q.OlderThan = age
	}
	selector, err := parseSelector(f.selector)
	switch {
	case err != nil:
		return err
	case q.AtOnce < 1:
		return engine.BadUsage(errors.New("--concurrency must be at least 1"))
	case selector != nil:
		q.Selector = selector.String()
	}
	if err := checkTimeout(f.Timeout); err != nil {
		return err
	}
	q.Namespace, err = engine.NamespaceMeant(&f.Access, f.namespace, f.all)
	return err
}

// checkReasons refuses reasons that are none, or need --stranded.
func (f *orphanFlags) checkReasons() error {
	known := orphan.Marked()
	if f.Stranded {
		known = append(known, orphan.Stranding()...)
	}
	for _, r := range f.Query.Reasons {
		if !f.Stranded && slices.Contains(orphan.Stranding(), r) {
			return engine.BadUsage(fmt.Errorf("--reason %s needs --stranded", r))
		}
		if err := oneOf("--reason", r, known...); err != nil {
			return err
		}
	}
	return nil
}

// checkHubs refuses what no orphan tells of itself.
func (f *orphanFlags) checkHubs() error {
	for _, hub := range f.Query.Hubs {
		if namespace, name, said := strings.Cut(hub, "/"); said {
			return engine.BadUsage(fmt.Errorf("--hub: an orphan says only the name of its hub, and not its namespace: say %s, and --node NAMESPACE/NODE for those from nodes in a namespace such as %s", name, namespace))
		}
	}
	return nil
}

// parseRefs are the objects that arguments name.
func parseRefs(args []string) (map[lynq.Ref]bool, error) {
	refs := map[lynq.Ref]bool{}
	var errs []error
	for _, arg := range args {
		ref, err := lynq.ParseRef(arg)
		errs = append(errs, err)
		refs[ref] = true
	}
	if err := errors.Join(errs...); err != nil {
		return nil, engine.BadUsage(err)
	}
	return refs, nil
}

// namedOrphans are those that arguments name, unless all are meant.
func namedOrphans(args []string, everything bool) (map[lynq.Ref]bool, error) {
	if len(args) > 0 && everything {
		return nil, engine.BadUsage(errors.New("--all and names exclude each other"))
	}
	return parseRefs(args)
}
