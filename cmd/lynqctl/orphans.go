package main

import (
	"cmp"
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
		Long: `Objects with deletion policy Retain stay when their node goes or wants them no
more. They then bear the label lynq.sh/orphaned=true, and annotations that say
since when, why, and from which node.`,
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
	flags.StringSliceVar(&f.nodes, "node", nil, "only orphans from these nodes, named UID-FORM or NAMESPACE/UID-FORM")
	flags.StringVar(&f.olderThan, "older-than", "", "only what was orphaned longer ago, such as 12h or 30d")
	flags.IntVar(&f.atOnce, "concurrency", orphan.DefaultAtOnce, "requests to send at once")
	f.registerDeadline(cmd)
}

// query checks the flags. Stranded tells whether what is stranded is looked for
// too.
func (f *orphanFlags) query(now time.Time, stranded bool) (orphan.Query, error) {
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
		return q, badUsage(fmt.Errorf("-l: %w", err))
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

// client connects. Of what the server warns only its own trouble is told: all
// kinds are listed, and that some are deprecated is not the user's doing.
func (f *orphanFlags) client(a *app) (*kube.Client, error) {
	client, err := f.access.Client(kube.Options{Warn: func(text string) {
		if !strings.Contains(text, " is deprecated in ") {
			_, _ = fmt.Fprintln(a.stderr, "warning:", text)
		}
	}})
	if err != nil {
		return nil, badUsage(err)
	}
	return client, nil
}
