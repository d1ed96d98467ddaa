package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func (a *app) orphansCommand() *cobra.Command {
	return group(&cobra.Command{
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
	deadlineFlag
	access    kube.Access
	namespace string
	all       bool
	selector  string
	reasons   []string
	hubs      []string
	nodes     []string
	olderThan string
	atOnce    int
}

func (f *orphanFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.access.Register(flags)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the orphans (default: the context's)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "orphans of all namespaces, and those without one")
	flags.StringVarP(&f.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them")
	flags.StringSliceVar(&f.reasons, "reason", nil, "only orphans for these reasons: "+strings.Join(orphan.Marked(), ", "))
	flags.StringSliceVar(&f.hubs, "hub", nil, "only orphans from these hubs")
	flags.StringSliceVar(&f.nodes, "node", nil, "only orphans from these nodes, as NODE or NAMESPACE/NODE")
	flags.StringVar(&f.olderThan, "older-than", "", "only what was orphaned longer ago, such as 12h or 30d")
	flags.IntVar(&f.atOnce, "concurrency", orphan.DefaultAtOnce, "requests to send at once")
	f.registerDeadline(cmd)
}

// query checks the flags. Stranded tells whether what is stranded is looked for
// too.
func (f *orphanFlags) query(now time.Time, stranded bool) (orphan.Query, error) {
	if err := f.checkHubs(); err != nil {
		return orphan.Query{}, err
	}
	q := orphan.Query{
		Filter: orphan.Filter{Reasons: f.reasons, Hubs: f.hubs, Nodes: f.nodes}, Now: now, AtOnce: f.atOnce,
	}
	known := orphan.Marked()
	if stranded {
		known = append(known, orphan.Stranding()...)
	}
	for _, r := range f.reasons {
		if !stranded && slices.Contains(orphan.Stranding(), r) {
			return q, badUsage(fmt.Errorf("--reason %s needs --stranded", r))
		}
		if err := oneOf("--reason", r, known...); err != nil {
			return q, err
		}
	}
	if f.olderThan != "" {
		age, err := parseAge(f.olderThan)
		if err != nil {
			return q, badUsage(fmt.Errorf("--older-than: %w", err))
		}
		q.OlderThan = age
	}
	selector, err := labels.Parse(f.selector)
	switch {
	case err != nil:
		return q, badUsage(badSelector(err))
	case f.atOnce < 1:
		return q, badUsage(errors.New("--concurrency must be at least 1"))
	}
	q.Selector = selector.String()
	if err := f.checkDeadline(); err != nil {
		return q, err
	}
	q.Namespace, err = f.where()
	return q, err
}

// checkHubs refuses what no orphan tells of itself.
func (f *orphanFlags) checkHubs() error {
	for _, hub := range f.hubs {
		if namespace, name, said := strings.Cut(hub, "/"); said {
			return badUsage(fmt.Errorf("--hub: an orphan says only the name of its hub, and not its namespace: say %s, and --node NAMESPACE/NODE for those from nodes in a namespace such as %s", name, namespace))
		}
	}
	return nil
}

// where is the namespace that is meant, "" for all.
func (f *orphanFlags) where() (string, error) {
	switch {
	case f.all:
		return "", nil
	case f.namespace != "" && !lynq.IsDNS1123Label(f.namespace):
		return "", badUsage(fmt.Errorf("-n: namespace %q is none that Kubernetes accepts (lower case letters, digits and dashes, at most 63)", f.namespace))
	case f.namespace != "":
		return f.namespace, nil
	}
	namespace, err := f.access.Namespace()
	if err != nil {
		return "", badUsage(err)
	}
	return cmp.Or(namespace, "default"), nil
}

// findOrphans looks for orphans among all kinds, and tells what may be missing.
func (r *clusterRun) findOrphans(ctx context.Context, q orphan.Query) ([]orphan.Orphan, error) {
	r.warnings.look(true)
	defer r.warnings.look(false)
	found, err := r.lookForOrphans(ctx, r.client, r.warnings, q)
	if err != nil {
		return nil, unread(ctx, err)
	}
	for _, w := range found.Warnings() {
		r.warnOnce(w)
	}
	return found.Orphans, nil
}

// lookForOrphans looks for orphans, which may take its time on a cluster with many
// kinds.
func (a *app) lookForOrphans(ctx context.Context, client *kube.Client, warnings *serverWarnings, q orphan.Query) (*orphan.Found, error) {
	counting, ended := a.countingRequests(warnings, "listing kinds")
	defer ended()
	q.Progress = counting.Reached
	return orphan.Find(ctx, client, q)
}

// namedOrphans are those that a person named.
func namedOrphans(args []string, everything bool) (map[lynq.Ref]bool, error) {
	if len(args) > 0 && everything {
		return nil, badUsage(errors.New("--all and names exclude each other"))
	}
	named := map[lynq.Ref]bool{}
	var errs []error
	for _, arg := range args {
		ref, err := lynq.ParseRef(arg)
		errs = append(errs, err)
		named[ref] = true
	}
	if err := errors.Join(errs...); err != nil {
		return nil, badUsage(err)
	}
	return named, nil
}

// namespaceOf is the one namespace that all named objects are in, "" where there
// is none such: who may look into that one only need not look into others.
func namespaceOf(named map[lynq.Ref]bool) string {
	namespace, first := "", true
	for ref := range named {
		if !first && ref.Namespace != namespace {
			return ""
		}
		namespace, first = ref.Namespace, false
	}
	return namespace
}

// noSuchOrphan is why a name is not that of an orphan.
func noSuchOrphan(ref lynq.Ref, hint string) error {
	return fmt.Errorf("there is no such orphan: %s (%s)", ref.Full(), hint)
}
