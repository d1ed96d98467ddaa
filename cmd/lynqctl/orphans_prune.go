package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// pruneFlags are the flags of orphans prune.
type pruneFlags struct {
	orphanFlags
	run         runFlags
	everything  bool
	includeData bool
	backupDir   string
	yes         bool
}

func (a *app) orphansPruneCommand() *cobra.Command {
	f := pruneFlags{run: defaultRunFlags()}
	cmd := &cobra.Command{
		Use:   "prune [OBJECT...|--all]",
		Short: "Delete what nodes left behind and nobody wants any more",
		Long: `Delete orphans: those that are named, as Kind[.group]/NAMESPACE/NAME, or with
--all those that the other flags leave. On a terminal they are shown and chosen;
elsewhere --yes has to be said.

An object is deleted only as it was seen, and while it is still marked as an
orphan. Volumes and their claims, namespaces and CustomResourceDefinitions stay
unless --include-data is said. --backup-dir writes the manifests first.`,
		Example: `  # Choose among the orphans of all namespaces
  lynqctl orphans prune -A

  # What is older than a month goes, but for data; manifests are kept
  lynqctl orphans prune -A --all --older-than 30d --backup-dir backup --yes

  # One object
  lynqctl orphans prune Deployment.apps/shop/acme-worker`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.orphansPrune(cmd.Context(), &f, args) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.everything, "all", false, "all orphans that the other flags leave")
	flags.BoolVar(&f.includeData, "include-data", false, "also volumes and their claims, namespaces and CustomResourceDefinitions")
	flags.StringVar(&f.backupDir, "backup-dir", "", "write the manifests of what goes to this directory first; it holds Secrets then")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	f.run.registerOutput(cmd)
	return cmd
}

func (a *app) orphansPrune(ctx context.Context, f *pruneFlags, args []string) error {
	q, err := f.query(time.Now(), false)
	if err != nil {
		return err
	}
	if err := f.run.checkRun(); err != nil {
		return err
	}
	named, err := namedOrphans(args, f.everything)
	if err != nil {
		return err
	}
	if len(named) > 0 {
		q.Namespace = "" // they say where they are
	}
	stderr := ui.NewStream(a.stderr, a.getenv)
	asked := ui.CanAsk(a.stdin, stderr) && !f.yes && f.run.dryRun == "none"
	if len(named) == 0 && !f.everything && !asked {
		return badUsage(errors.New("prune what? name orphans, as lynqctl orphans list -o name does, or say --all"))
	}
	client, err := f.client(a)
	if err != nil {
		return err
	}
	f.run.writers = f.atOnce
	j := pruneJob{clusterRun: a.newClusterRun(&f.run, client, &serverWarnings{stderr: a.stderr}), flags: f, named: named}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	found, err := orphan.Find(ctx, client, q)
	if err != nil {
		return unread(ctx, err)
	}
	for _, w := range found.Warnings() {
		_, _ = fmt.Fprintln(a.stderr, "warning:", w)
	}
	return j.perform(ctx, found.Orphans, asked)
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

// pruneJob is one run of orphans prune.
type pruneJob struct {
	clusterRun
	flags *pruneFlags
	named map[lynq.Ref]bool
}

func (j *pruneJob) perform(ctx context.Context, orphans []orphan.Orphan, asked bool) error {
	orphans, err := j.chosen(orphans)
	if err != nil {
		return err
	}
	plans, spared := orphan.Prune(orphans, j.flags.includeData)
	for _, s := range spared {
		_, _ = fmt.Fprintf(j.stderr, "left alone: %s: %s\n", s.Orphan.Full(), s.Why)
	}
	switch {
	case len(plans) == 0:
		_, _ = fmt.Fprintln(j.stderr, "no orphan is to be pruned")
		return nil
	case j.run.dryRun == "client":
		return j.showPlans(plans)
	case j.run.dryRun == "server":
		return j.runPlans(ctx, plans, apply.Options{}, nil)
	}
	orphans = slices.DeleteFunc(orphans, func(o orphan.Orphan) bool {
		return slices.ContainsFunc(spared, func(s orphan.Spared) bool { return s.Orphan.Ref == o.Ref })
	})
	if orphans, err = j.agree(ctx, orphans, asked); err != nil {
		return err
	}
	if j.flags.backupDir != "" {
		if err := backup(ctx, j.client, j.flags.backupDir, orphans); err != nil {
			return untouched(ctx, err)
		}
	}
	plans, _ = orphan.Prune(orphans, j.flags.includeData)
	return j.runPlans(ctx, plans, apply.Options{}, nil)
}

// chosen leaves those that were named. A name that is no orphan's is an error.
func (j *pruneJob) chosen(orphans []orphan.Orphan) ([]orphan.Orphan, error) {
	if len(j.named) == 0 {
		return orphans, nil
	}
	missing := map[lynq.Ref]bool{}
	for ref := range j.named {
		missing[ref] = true
	}
	var chosen []orphan.Orphan
	for _, o := range orphans {
		if j.named[o.Ref] {
			chosen = append(chosen, o)
			delete(missing, o.Ref)
		}
	}
	if len(missing) == 0 {
		return chosen, nil
	}
	var names []string
	for ref := range missing {
		names = append(names, ref.Full())
	}
	slices.Sort(names)
	return nil, &exitError{
		code: exitBadInput, err: fmt.Errorf("there is no such orphan: %s (lynqctl orphans list -A -o name lists them)", strings.Join(names, ", ")),
		summary: "nothing was touched",
	}
}

// agree has a person choose, or say that all that was meant is to go.
func (j *pruneJob) agree(ctx context.Context, orphans []orphan.Orphan, asked bool) ([]orphan.Orphan, error) {
	stderr := ui.NewStream(j.stderr, j.getenv)
	l := orphanList(orphans, time.Now())
	if !asked {
		return orphans, j.confirm(ctx, j.flags.yes, "")
	}
	if len(j.named) > 0 || j.flags.everything {
		if err := ui.PrintList(l, ui.Table, stderr, stderr); err != nil {
			return nil, failed(err)
		}
		return orphans, j.confirm(ctx, false, "Delete "+count(len(orphans), "orphan")+" for good?")
	}
	var chosen []orphan.Orphan
	err := interruptible(ctx, func() error {
		places, err := ui.Choose(j.stdin, stderr, l, "Delete which of them, for good?")
		for _, i := range places {
			chosen = append(chosen, orphans[i])
		}
		return err
	})
	if err == nil && len(chosen) == 0 {
		return nil, unconfirmed()
	}
	return chosen, err
}
