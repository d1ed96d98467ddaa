package orphans

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// PruneOptions say which orphans Prune deletes.
type PruneOptions struct {
	session.RunOptions
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	Query   orphan.Query
	// Named are the orphans to delete. If it is empty, All deletes all orphans that Query
	// finds. Without All, a person chooses among them.
	Named map[lynq.Ref]bool
	All   bool
	// Choose asks a person to choose orphans, and returns their indexes. Show shows the
	// named ones.
	Choose func(orphans []orphan.Orphan, question string) ([]int, error)
	Show   func(orphans []orphan.Orphan) error
	// IncludeData also deletes volumes and their claims, namespaces and
	// CustomResourceDefinitions.
	IncludeData bool
	// BackupDir is the directory for backups of manifests, "" for none.
	BackupDir string
	Yes       bool // don't ask
}

// Prune deletes orphans. It returns a *session.Error if it kept a named one.
func Prune(ctx context.Context, e *session.Engine, o *PruneOptions) error {
	if o.chosen() && (o.Yes || o.Mode != session.ModeRun || !e.View.CanAsk()) {
		return session.BadUsage(errors.New("specify which orphans to delete, or pass --all. List them with 'lynqctl orphans list -o name'"))
	}
	if err := e.MayGoOn(o.Mode, o.Yes || o.Plan != nil); err != nil {
		return err
	}
	return e.OnCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r session.Run) error {
		j := pruneJob{Run: r, o: o}
		return j.perform(ctx)
	})
}

// chosen reports whether a person chooses the orphans.
func (o *PruneOptions) chosen() bool { return len(o.Named) == 0 && !o.All }

// pruneJob is one run of Prune.
type pruneJob struct {
	session.Run
	o    *PruneOptions
	left int // named orphans that the run keeps
}

// command is the command that carries out the plans of this package.
const command = "orphans prune"

// namespacesOf returns the namespaces of orphans, or of their nodes.
func namespacesOf(orphans []orphan.Orphan) []string {
	var namespaces []string
	for i := range orphans {
		if ns := cmp.Or(orphans[i].Namespace, orphans[i].From.Namespace); ns != "" {
			namespaces = append(namespaces, ns)
		}
	}
	return namespaces
}

func (j *pruneJob) perform(ctx context.Context) error {
	return session.Perform(ctx, &j.Run, &session.Change[[]orphan.Orphan]{
		Look: j.look,
		Try: func(ctx context.Context, orphans []orphan.Orphan) error {
			return j.ended(j.TryPlans(ctx, command, namespacesOf(orphans), j.plans(orphans, false)))
		},
		Ask: j.agree,
		Do: func(ctx context.Context, _ *session.Locks, orphans []orphan.Orphan) error {
			return j.ended(j.carryOut(ctx, orphans))
		},
	})
}

// look finds the selected orphans, and says which of them it keeps.
func (j *pruneJob) look(ctx context.Context) ([]orphan.Orphan, []plan.Refusal, error) {
	if refusals, err := j.CheckPlan(ctx, command); err != nil || len(refusals) > 0 {
		return nil, refusals, err
	}
	if j.NothingPlanned() {
		return nil, nil, session.ErrNothing
	}
	q := j.o.Query
	if len(j.o.Named) > 0 {
		q.Namespace = session.NamespaceOf(j.o.Named)
	}
	found, err := j.FindOrphans(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	orphans, err := j.meant(found.Orphans, found)
	if err != nil {
		return nil, nil, err
	}
	orphans, spared := orphan.Prunable(orphans, orphan.PruneOptions{Data: j.o.IncludeData})
	j.tell(spared)
	j.left = j.leftAlone(spared)
	if f := j.RunOptions.Plan; f != nil {
		planned := f.Objects()
		orphans = slices.DeleteFunc(orphans, func(o orphan.Orphan) bool { return !planned[o.Ref] })
		_, refusals, err := j.Reviewed(ctx, command, j.plans(orphans, true), nil)
		return orphans, refusals, err
	}
	if len(orphans) > 0 {
		return orphans, nil, nil
	}
	j.Engine.Notef("there is no orphan to prune%s", found.Except())
	if j.left > 0 {
		return nil, nil, &session.Error{Outcome: session.Refused, Err: session.ErrReported, Summary: "nothing changed"}
	}
	return nil, nil, session.ErrNothing
}

// ended adds the kept orphans to the result of a run, if the user named them.
func (j *pruneJob) ended(err error) error {
	if err != nil || j.left == 0 {
		return err
	}
	return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: "skipped, though you named it: " + phrase.Count(j.left, "orphan")}
}

// carryOut backs up orphans and deletes them.
func (j *pruneJob) carryOut(ctx context.Context, orphans []orphan.Orphan) error {
	if j.o.BackupDir != "" {
		if err := saveManifests(ctx, j.Client, j.o.BackupDir, orphans); err != nil {
			return session.Untouched(ctx, err)
		}
	}
	return j.RunPlans(ctx, j.plans(orphans, j.o.BackupDir != "" || j.o.Plan != nil), apply.Options{}, nil)
}

// plans plans the deletion of selected orphans. Some may have been adopted during the
// backup. With exact, the run deletes only objects that still equal their backup.
func (j *pruneJob) plans(orphans []orphan.Orphan, exact bool) []plan.Plan {
	plans, spared := orphan.Prune(orphans, orphan.PruneOptions{Data: true, Exact: exact})
	j.tell(spared)
	return plans
}

// meant keeps the named orphans. It returns an error for a name that no orphan has.
func (j *pruneJob) meant(orphans []orphan.Orphan, found *orphan.Found) ([]orphan.Orphan, error) {
	if len(j.o.Named) == 0 {
		return orphans, nil
	}
	missing := maps.Clone(j.o.Named)
	meant := slices.DeleteFunc(orphans, func(o orphan.Orphan) bool {
		delete(missing, o.Ref)
		return !j.o.Named[o.Ref]
	})
	var errs []error
	for ref := range missing {
		errs = append(errs, session.NoSuchOrphan(ref, found, "lynqctl orphans list -A -o name lists them; flags that narrow the list count for names too"))
	}
	if len(errs) > 0 {
		return nil, &session.Error{Outcome: session.BadInput, Err: session.InOrder(errs), Summary: "nothing changed"}
	}
	return meant, nil
}

func (j *pruneJob) tell(spared []orphan.Spared) {
	for _, s := range spared {
		j.Engine.Notef("skipped: %s: %s", s.Orphan.Full(), s.Why)
	}
}

// leftAlone counts the named orphans that the run keeps.
func (j *pruneJob) leftAlone(spared []orphan.Spared) int {
	left := 0
	for _, s := range spared {
		if l := s.Orphan.Live; j.o.Named[s.Orphan.Ref] && (l == nil || !l.Deleting) {
			left++
		}
	}
	return left
}

// agree lets a person choose, and asks for confirmation.
func (j *pruneJob) agree(ctx context.Context, orphans []orphan.Orphan) ([]orphan.Orphan, error) {
	if j.o.Yes || j.o.Plan != nil {
		return orphans, nil
	}
	if !j.o.chosen() {
		if err := j.o.Show(orphans); err != nil {
			return nil, session.Fail(err)
		}
	} else {
		var chosen []orphan.Orphan
		err := j.Engine.Ask(ctx, func() error {
			indexes, err := j.o.Choose(orphans, "Delete which of them?")
			for _, i := range indexes {
				chosen = append(chosen, orphans[i])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if orphans = chosen; len(orphans) == 0 {
			return nil, session.Unconfirmed()
		}
	}
	if held := heldData(orphans); held != "" {
		j.Engine.Notef("%v", held)
	}
	backup := ""
	if j.o.BackupDir != "" {
		backup = ", once their manifests are in " + j.o.BackupDir
	}
	return orphans, j.Engine.Confirm(ctx, false, "Delete "+deletionSummary(orphans)+" for good"+backup+"?")
}

// deletionSummary says how much the run deletes.
func deletionSummary(orphans []orphan.Orphan) string {
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
		where = append(where, "in "+phrase.Count(len(namespaces), "namespace"))
	}
	if clusterWide {
		where = append(where, "without a namespace")
	}
	return phrase.Count(len(orphans), "orphan") + " " + strings.Join(where, " and ")
}

// heldData says which orphans hold data, or "".
func heldData(orphans []orphan.Orphan) string {
	kinds := map[string]int{}
	for i := range orphans {
		if orphans[i].HoldsData() {
			kinds[orphans[i].Kind]++
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, phrase.Count(kinds[kind], kind))
	}
	return "Data that will be deleted: " + strings.Join(parts, ", ") + ", with all that is in them"
}
