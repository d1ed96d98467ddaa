package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// PruneOptions say which orphans are deleted.
type PruneOptions struct {
	RunOptions
	Access  kube.Access
	Timeout time.Duration // 0 is none
	Query   orphan.Query
	// Named are the orphans that are meant; where there are none, with All all that Query
	// finds, or else those that a person chooses.
	Named map[lynq.Ref]bool
	All   bool
	// Choose has a person choose among orphans, and gives the indexes of those that are
	// meant. Show shows them where they are named.
	Choose func(orphans []orphan.Orphan, question string) ([]int, error)
	Show   func(orphans []orphan.Orphan) error
	// IncludeData: also volumes and their claims, namespaces and
	// CustomResourceDefinitions.
	IncludeData bool
	// BackupDir is where manifests are written first, "" for none.
	BackupDir string
	Yes       bool // do not ask
}

// Prune deletes orphans.
func (e *Engine) Prune(ctx context.Context, o *PruneOptions) error {
	if o.chosen() && (o.Yes || o.Mode != ModeRun || !e.View.CanAsk()) {
		return BadUsage(errors.New("prune what? name orphans, as lynqctl orphans list -o name does, or say --all"))
	}
	if err := e.mayGoOn(o.Mode, o.Yes); err != nil {
		return err
	}
	return e.onCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r clusterRun) error {
		j := pruneJob{clusterRun: r, o: o}
		return j.perform(ctx)
	})
}

// chosen tells whether a person chooses what goes.
func (o *PruneOptions) chosen() bool { return len(o.Named) == 0 && !o.All }

// pruneJob is one run of Prune.
type pruneJob struct {
	clusterRun
	o *PruneOptions
}

func (j *pruneJob) perform(ctx context.Context) error {
	q := j.o.Query
	if len(j.o.Named) > 0 {
		q.Namespace = namespaceOf(j.o.Named)
	}
	found, err := j.findOrphans(ctx, q)
	if err != nil {
		return err
	}
	orphans, err := j.meant(found)
	if err != nil {
		return err
	}
	orphans, spared := orphan.Prunable(orphans, orphan.PruneOptions{Data: j.o.IncludeData})
	j.tell(spared)
	left := j.leftAlone(spared)
	if len(orphans) == 0 {
		j.notef("there is no orphan to prune")
		if left > 0 {
			return &Error{Outcome: Refused, Err: ErrReported, Summary: "nothing was touched"}
		}
		return nil
	}
	if err := j.carryOut(ctx, orphans); err != nil || left == 0 {
		return err
	}
	return &Error{Outcome: Failed, Err: ErrReported, Summary: "left alone, though it was named: " + lynq.Count(left, "orphan")}
}

// carryOut deletes orphans, or shows what that would come to.
func (j *pruneJob) carryOut(ctx context.Context, orphans []orphan.Orphan) error {
	o := orphan.PruneOptions{Data: true} // what is not meant has been left out
	if j.run.Mode == ModeRun {
		var err error
		if orphans, err = j.agree(ctx, orphans); err != nil {
			return err
		}
		if j.o.BackupDir != "" {
			if err := backup(ctx, j.client, j.o.BackupDir, orphans); err != nil {
				return untouched(ctx, err)
			}
			o.Exact = true
		}
	}
	plans, spared := orphan.Prune(orphans, o)
	j.tell(spared) // while they were backed up, some were adopted
	if j.run.Mode == ModeClient {
		return j.showPlans(plans)
	}
	return j.runPlans(ctx, plans, apply.Options{}, nil)
}

// meant leaves those that were named. A name that is no orphan's is an error.
func (j *pruneJob) meant(orphans []orphan.Orphan) ([]orphan.Orphan, error) {
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
		errs = append(errs, noSuchOrphan(ref, "lynqctl orphans list -A -o name lists them; all flags that narrow hold for names too"))
	}
	if len(errs) > 0 {
		return nil, &Error{Outcome: BadInput, Err: inOrder(errs), Summary: "nothing was touched"}
	}
	return meant, nil
}

func (j *pruneJob) tell(spared []orphan.Spared) {
	for _, s := range spared {
		j.notef("left alone: %s: %s", s.Orphan.Full(), s.Why)
	}
}

// leftAlone is how many orphans were named and are not going to go.
func (j *pruneJob) leftAlone(spared []orphan.Spared) int {
	left := 0
	for _, s := range spared {
		if l := s.Orphan.Live; j.o.Named[s.Orphan.Ref] && (l == nil || !l.Deleting) {
			left++
		}
	}
	return left
}

// agree has a person choose, and say that what was meant is to go.
func (j *pruneJob) agree(ctx context.Context, orphans []orphan.Orphan) ([]orphan.Orphan, error) {
	if j.o.Yes {
		return orphans, nil
	}
	if !j.o.chosen() {
		if err := j.o.Show(orphans); err != nil {
			return nil, Fail(err)
		}
	} else {
		var chosen []orphan.Orphan
		err := j.ask(ctx, func() error {
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
			return nil, unconfirmed()
		}
	}
	if held := heldData(orphans); held != "" {
		j.notef("%v", held)
	}
	backup := ""
	if j.o.BackupDir != "" {
		backup = ", once their manifests are in " + j.o.BackupDir
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
		where = append(where, "in "+lynq.Count(len(namespaces), "namespace"))
	}
	if clusterWide {
		where = append(where, "without a namespace")
	}
	return lynq.Count(len(orphans), "orphan") + " " + strings.Join(where, " and ")
}

// heldData says what of the orphans holds data, "" where nothing does.
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
		parts = append(parts, lynq.Count(kinds[kind], kind))
	}
	return "Data that goes: " + strings.Join(parts, ", ") + ", with all that is in them"
}
