package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
		Short: "Delete orphans that are no longer needed",
		Long: `Delete orphans: those that are named, as Kind[.group]/NAMESPACE/NAME, or with
--all those that the other flags leave. On a terminal they are shown and chosen;
elsewhere --yes has to be said.

An object is deleted only as it was seen, and while it is still marked as an
orphan. Volumes and their claims, namespaces and CustomResourceDefinitions hold
data, and stay unless --include-data is said; a namespace or kind with objects
that are not orphans stays in any case. --backup-dir writes the manifests first.

Exit codes: 0 done; 1 something could not be deleted, or was named and left
alone, the rest was done; 2 bad usage, nothing was touched; 3 not confirmed, or
all that was named is left alone, nothing was touched; 130 interrupted.`,
		Example: `  # Choose among the orphans of all namespaces
  lynqctl orphans prune -A

  # What a hub left over a month ago goes, but for data; manifests are kept
  lynqctl orphans prune -A --hub crm --all --older-than 30d --backup-dir old -y

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
		q.Namespace = namespaceOf(named)
	}
	choosing := len(named) == 0 && !f.everything
	if choosing && (f.yes || f.run.dryRun != "none" || a.mayGoOn(false) != nil) {
		return badUsage(errors.New("prune what? name orphans, as lynqctl orphans list -o name does, or say --all"))
	}
	if f.run.dryRun == "none" {
		if err := a.mayGoOn(f.yes); err != nil {
			return err
		}
	}
	client, warnings, err := a.connect(&f.access)
	if err != nil {
		return err
	}
	f.run.writers = f.atOnce
	j := pruneJob{clusterRun: a.newClusterRun(&f.run, client, warnings), flags: f, named: named, choosing: choosing}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	orphans, err := j.findOrphans(ctx, q)
	if err != nil {
		return err
	}
	return j.perform(ctx, orphans)
}

// pruneJob is one run of orphans prune.
type pruneJob struct {
	clusterRun
	flags *pruneFlags
	named map[lynq.Ref]bool
	// choosing: nothing was named, and a person is there who chooses.
	choosing bool
}

func (j *pruneJob) perform(ctx context.Context, orphans []orphan.Orphan) error {
	orphans, err := j.meant(orphans)
	if err != nil {
		return err
	}
	orphans, spared := orphan.Prunable(orphans, orphan.PruneOptions{Data: j.flags.includeData})
	j.tell(spared)
	left := j.leftAlone(spared)
	if len(orphans) == 0 {
		_, _ = fmt.Fprintln(j.stderr, "no orphan is to be pruned")
		if left > 0 {
			return &exitError{code: exitRefused, err: errSaid, summary: "nothing was touched"}
		}
		return nil
	}
	if err := j.carryOut(ctx, orphans); err != nil || left == 0 {
		return err
	}
	return &exitError{code: exitFailed, err: errSaid, summary: "left alone, though it was named: " + count(left, "orphan")}
}

// carryOut deletes orphans, or shows what that would come to.
func (j *pruneJob) carryOut(ctx context.Context, orphans []orphan.Orphan) error {
	o := orphan.PruneOptions{Data: true} // what is not meant has been left out
	if j.run.dryRun == "none" {
		var err error
		if orphans, err = j.agree(ctx, orphans); err != nil {
			return err
		}
		if j.flags.backupDir != "" {
			if err := backup(ctx, j.client, j.flags.backupDir, orphans); err != nil {
				return untouched(ctx, err)
			}
			o.Exact = true
		}
	}
	plans, spared := orphan.Prune(orphans, o)
	j.tell(spared) // while they were backed up, somebody took them back
	if j.run.dryRun == "client" {
		return j.showPlans(plans)
	}
	return j.runPlans(ctx, plans, apply.Options{}, nil)
}

// meant leaves those that were named. A name that is no orphan's is an error.
func (j *pruneJob) meant(orphans []orphan.Orphan) ([]orphan.Orphan, error) {
	if len(j.named) == 0 {
		return orphans, nil
	}
	missing := maps.Clone(j.named)
	meant := slices.DeleteFunc(orphans, func(o orphan.Orphan) bool {
		delete(missing, o.Ref)
		return !j.named[o.Ref]
	})
	var errs []error
	for ref := range missing {
		errs = append(errs, noSuchOrphan(ref, "lynqctl orphans list -A -o name lists them; all flags that narrow hold for names too"))
	}
	if len(errs) > 0 {
		return nil, &exitError{code: exitBadInput, err: inOrder(errs), summary: "nothing was touched"}
	}
	return meant, nil
}

func (j *pruneJob) tell(spared []orphan.Spared) {
	for _, s := range spared {
		_, _ = fmt.Fprintf(j.stderr, "left alone: %s: %s\n", s.Orphan.Full(), s.Why)
	}
}

// leftAlone is how many orphans were named and are not going to go.
func (j *pruneJob) leftAlone(spared []orphan.Spared) int {
	left := 0
	for _, s := range spared {
		if l := s.Orphan.Live; j.named[s.Orphan.Ref] && (l == nil || !l.Deleting) {
			left++
		}
	}
	return left
}

// agree has a person choose, and say that what was meant is to go.
func (j *pruneJob) agree(ctx context.Context, orphans []orphan.Orphan) ([]orphan.Orphan, error) {
	if j.flags.yes {
		return orphans, nil
	}
	stderr := ui.NewStream(j.stderr, j.getenv)
	l := orphanList(orphans, time.Now())
	if !j.choosing {
		if err := ui.PrintList(l, ui.Table, stderr, stderr); err != nil {
			return nil, failed(err)
		}
	} else {
		var chosen []orphan.Orphan
		err := j.ask(ctx, func() error {
			places, err := ui.Choose(j.stdin, stderr, l, "Delete which of them?")
			for _, i := range places {
				chosen = append(chosen, orphans[i])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if orphans = chosen; len(orphans) == 0 {
			return nil, unconfirmed()
		}
	}
	if held := heldData(orphans); held != "" {
		_, _ = fmt.Fprintln(j.stderr, held)
	}
	backup := ""
	if j.flags.backupDir != "" {
		backup = ", once their manifests are in " + j.flags.backupDir
	}
	return orphans, j.confirm(ctx, false, "Delete "+atStake(orphans)+" for good"+backup+"?")
}

// atStake is how much is to go, in words.
func atStake(orphans []orphan.Orphan) string {
	namespaces := map[string]bool{}
	for i := range orphans {
		namespaces[orphans[i].Namespace] = true
	}
	clusterWide := namespaces[""]
	delete(namespaces, "")
	var where []string
	switch len(namespaces) {
	case 0:
	case 1:
		for ns := range namespaces {
			where = append(where, "in namespace "+ns)
		}
	default:
		where = append(where, "in "+count(len(namespaces), "namespace"))
	}
	if clusterWide {
		where = append(where, "without a namespace")
	}
	return count(len(orphans), "orphan") + " " + strings.Join(where, " and ")
}

// heldData says what of the orphans holds data, "" where nothing does.
func heldData(orphans []orphan.Orphan) string {
	kinds := map[string]int{}
	for i := range orphans {
		if orphan.Data(orphans[i].Ref) {
			kinds[orphans[i].Kind]++
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, count(kinds[kind], kind))
	}
	return "Data that goes: " + strings.Join(parts, ", ") + ", with all that is in them"
}
