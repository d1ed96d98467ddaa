package command

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/orphans"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func orphansListCommand(a *app) *cobra.Command {
	var f orphanFlags
	var p cmdflags.Print
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List retained objects",
		Long: `List orphans of every kind, also kinds that 'kubectl get all' leaves out, such
as PersistentVolumeClaims, Secrets, and custom resources. If you may not list a
kind, a warning names it.

With --stranded, also list tracked objects that no inventory lists, and entries
of inventories without an object.`,
		Example: `  # List all orphans of the cluster
  lynqctl orphans list -A

  # List orphans of one tenant that are at least 30 days old
  lynqctl orphans list --node acme-web --older-than 30d

  # After you lost inventories, also list objects without an entry
  lynqctl orphans list -A --stranded -o wide`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.Check(); err != nil {
				return err
			}
			return a.orphansList(cmd.Context(), &f, &p)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVar(&f.list.Stranded, "stranded", false, "also list objects that no inventory lists ("+orphan.ReasonStranded+"), and inventory entries without an object ("+orphan.ReasonGone+")")
	p.Register(flags)
	p.RegisterList(flags)
	return cmd
}

func (a *app) orphansList(ctx context.Context, f *orphanFlags, p *cmdflags.Print) error {
	now := time.Now()
	if err := f.check(now); err != nil {
		return err
	}
	found, err := orphans.List(ctx, a.Engine(""), &f.list)
	if err != nil {
		return err
	}
	l := ui.OrphanList(found.Orphans, now)
	l.Warnings = found.Warnings()
	switch q := &f.list.Query; {
	case len(q.Within) > 0:
		l.Empty = "No orphans found in " + cmp.Or(q.Namespace, strings.Join(q.Within, ", "))
		l.Footer = append(l.Footer, "--namespaces leaves out objects elsewhere, and objects without a namespace")
	case q.Namespace != "":
		l.Empty = "No orphans found in namespace " + q.Namespace + " (-A looks in all)"
	default:
		l.Empty = "No orphans found in any namespace"
	}
	if except := found.Except(); except != "" {
		l.Empty += except
		l.Footer = append(l.Footer, "incomplete"+strings.TrimPrefix(except, ","))
	}
	return a.printList(p, l)
}
