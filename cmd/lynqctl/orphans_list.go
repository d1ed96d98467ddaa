package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func (a *app) orphansListCommand() *cobra.Command {
	var f orphanFlags
	var p printFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what nodes left behind",
		Long: `List the objects of all kinds that nodes left behind: also those that
'kubectl get all' does not show, such as custom resources, volume claims,
ConfigMaps and Secrets. Kinds that you may not list are named in a warning.

With --stranded also objects that have lynqctl's tracking and no entry in an
inventory, and entries whose objects are gone.`,
		Example: `  # All orphans of the cluster
  lynqctl orphans list -A

  # What a tenant left, a month ago or longer
  lynqctl orphans list --node acme-web --older-than 30d

  # Also objects without an entry, after inventories were lost
  lynqctl orphans list -A --stranded -o wide`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return err
			}
			return a.orphansList(cmd.Context(), &f, &p)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVar(&f.Stranded, "stranded", false, "also objects that no inventory has an entry for ("+orphan.ReasonStranded+"), and entries whose objects are gone ("+orphan.ReasonGone+")")
	p.register(flags)
	p.registerList(flags)
	return cmd
}

func (a *app) orphansList(ctx context.Context, f *orphanFlags, p *printFlags) error {
	now := time.Now()
	if err := f.check(now); err != nil {
		return err
	}
	found, err := a.engine("").Orphans(ctx, &f.OrphanOptions)
	if err != nil {
		return err
	}
	l := ui.OrphanList(found.Orphans, now)
	l.Warnings = found.Warnings()
	l.Empty = "No orphans found in any namespace"
	if namespace := f.Query.Namespace; namespace != "" {
		l.Empty = "No orphans found in namespace " + namespace + " (-A looks in all)"
	}
	return p.printList(a, l)
}
