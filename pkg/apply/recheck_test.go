package apply

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRecheckDecides: whatever was found when a plan was made, and whatever is found
// when a step's turn comes, the step becomes what a plan would have that is made then.
func TestRecheckDecides(t *testing.T) {
	eachPolicy(func(p lynq.Policy) {
		for _, then := range situations() {
			for _, now := range situations() {
				in := scene(then, p)
				plan := Decide(in, Limits{})
				step := plan.Nodes[0].Steps[0]
				live := scene(now, p).Live[step.Object.Ref]
				in.Live = map[lynq.Ref]*Live{}
				if live != nil {
					in.Live[step.Object.Ref] = live
				}
				want := Decide(in, Limits{}).Nodes[0].Steps[0]
				took := step.Reason == ReasonTakeover && live != nil && live.UID == step.Live.UID && want.writes()
				if took {
					want.Action, want.Reason = ActionAdopt, ReasonTakeover // its marks may be gone by our own doing
				}
				if step.Reason == ReasonDeleting && live == nil {
					want.Reason = ReasonDeleting
				}
				got, course := plan.rules.recheck(newOwner(plan.Nodes[0].NodeKey, "crm", in.Inventories[0]), &step, live)
				if (verdict{got.Action, got.Reason}) != (verdict{want.Action, want.Reason}) || got.Live != live {
					t.Errorf("%+v: planned %s, found %s: %s (%s), want %s (%s)", p, then, now, got.Action, got.Reason, want.Action, want.Reason)
				}
				holds := step.Action == got.Action && (step.Live == nil) == (live == nil) && (got.Reason == ReasonTakeover) == (step.Reason == ReasonTakeover) && (got.Reason == ReasonUnmanaged) == (step.Reason == ReasonUnmanaged)
				if (course == courseHolds) != holds {
					t.Errorf("%+v: planned %s, found %s: course %d", p, then, now, course)
				}
			}
		}
	})
}

// TestRecheckUnmanaged: a mark as unmanaged that comes since the plan counts for
// whatever was planned: a takeover under way, tracking that was to be put right.
func TestRecheckUnmanaged(t *testing.T) {
	for name, test := range map[string]struct {
		policy func(*lynq.Policy)
		then   func(*Live)
		want   verdict // planned
	}{
		"takeover": {func(p *lynq.Policy) { p.Conflict = lynq.ConflictForce }, func(l *Live) { l.Foreign = "Kustomization a/b" }, verdict{ActionAdopt, ReasonTakeover}},
		"tracking": {func(p *lynq.Policy) { p.Creation = lynq.CreateOnce }, func(l *Live) { l.Node = "stray" }, verdict{ActionTrack, ReasonUntracked}},
		"update":   {func(*lynq.Policy) {}, func(l *Live) { l.Fields = "f2" }, verdict{ActionUpdate, ReasonDrifted}},
	} {
		p := lynq.DefaultPolicy()
		test.policy(&p)
		in := scene(ours, p)
		ref := in.Nodes[0].Objects[0].Ref
		test.then(in.Live[ref])
		plan := Decide(in, Limits{})
		step := plan.Nodes[0].Steps[0]
		if (verdict{step.Action, step.Reason}) != test.want {
			t.Errorf("%s: planned %s (%s), want %v", name, step.Action, step.Reason, test.want)
		}
		now := *in.Live[ref]
		now.Unmanaged = true
		got, course := plan.rules.recheck(newOwner(plan.Nodes[0].NodeKey, "crm", in.Inventories[0]), &step, &now)
		if got.Reason != ReasonUnmanaged || course != courseTurns || got.writes() {
			t.Errorf("%s: %s (%s), course %d, want it left alone", name, got.Action, got.Reason, course)
		}
	}
}

// eachPolicy calls a function with the policies that decide.
func eachPolicy(each func(lynq.Policy)) {
	for _, patch := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchMerge, lynq.PatchReplace} {
		for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
			for _, deletion := range []lynq.DeletionPolicy{lynq.DeleteDelete, lynq.DeleteRetain} {
				for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
					p := lynq.DefaultPolicy()
					p.Patch, p.Creation, p.Deletion, p.Conflict = patch, creation, deletion, conflict
					each(p)
				}
			}
		}
	}
}

// TestRecheckLeaving: what a node wants no more is deleted only where the plan said
// so, and it is still the node's.
func TestRecheckLeaving(t *testing.T) {
	key := NodeKey{"ns", "acme-web"}
	partOf := inventory.ID("ns", inventory.Name("acme-web"))
	record := &inventory.Record{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, UID: "u1", Deletion: lynq.DeleteDelete}
	seen := Live{Ref: record.Ref, UID: "u1", ResourceVersion: "7", Generation: 1, Hub: "crm", PartOf: partOf, Owners: []types.UID{"inv"}, Orphaned: true}
	d := newDecider(&Input{Hub: "crm"})
	me := owner{NodeKey: key, hub: "crm", partOf: partOf, uid: "inv"}
	orphan := func(l *Live) { l.Hub, l.PartOf, l.Owners = "", "", nil }
	for name, test := range map[string]struct {
		planned Action
		why     Reason
		exact   bool
		change  func(*Live) // nil: it is gone
		want    verdict
		course  course
	}{
		"delete: unchanged":              {ActionDelete, ReasonNodeGone, false, func(*Live) {}, verdict{ActionDelete, ReasonNodeGone}, courseHolds},
		"delete: edited":                 {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.ResourceVersion = "8" }, verdict{ActionDelete, ReasonNodeGone}, courseHolds},
		"delete: being deleted":          {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Deleting = true }, verdict{ActionDelete, ReasonNodeGone}, courseHolds},
		"delete: gone":                   {ActionDelete, ReasonNodeGone, false, nil, verdict{ActionRelease, ReasonAlreadyGone}, courseTurns},
		"delete: unmanaged":              {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Unmanaged = true }, verdict{ActionTrack, ReasonUnmanaged}, courseTurns},
		"delete: another tool's":         {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Foreign = "Kustomization a/b" }, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"delete: a controller's":         {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Controller = "Widget/w" }, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"delete: untracked":              {ActionDelete, ReasonNodeGone, false, orphan, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"delete: to be retained":         {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.DeletionPolicy = lynq.DeleteRetain }, verdict{ActionOrphan, ReasonNodeGone}, courseTurns},
		"delete: made again":             {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.UID = "u2" }, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"collect: unchanged":             {ActionCollect, ReasonNodeDeleted, false, func(*Live) {}, verdict{ActionCollect, ReasonNodeDeleted}, courseHolds},
		"collect: with another owner":    {ActionCollect, ReasonNodeDeleted, false, func(l *Live) { l.Owners = []types.UID{"inv", "x"} }, verdict{ActionDelete, ReasonNodeDeleted}, courseTurns},
		"collect: another tool's":        {ActionCollect, ReasonNodeDeleted, false, func(l *Live) { l.Foreign = "Kustomization a/b" }, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"orphan: retained no more":       {ActionOrphan, ReasonNodeGone, false, func(l *Live) { l.ResourceVersion = "8" }, verdict{ActionOrphan, ReasonNodeGone}, courseHolds},
		"orphan: untracked":              {ActionOrphan, ReasonNodeGone, false, orphan, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"orphan: made again":             {ActionOrphan, ReasonNodeGone, false, func(l *Live) { l.UID = "u2" }, verdict{ActionRelease, ReasonTakenOver}, courseTurns},
		"release: the mark is off":       {ActionRelease, ReasonTakenOver, false, func(*Live) {}, verdict{ActionRelease, ReasonTakenOver}, courseHolds},
		"release: gone":                  {ActionRelease, ReasonTakenOver, false, nil, verdict{ActionRelease, ReasonAlreadyGone}, courseTurns},
		"prune: unchanged":               {ActionDelete, ReasonPruned, false, orphan, verdict{ActionDelete, ReasonPruned}, courseHolds},
		"prune: gone":                    {ActionDelete, ReasonPruned, false, nil, verdict{ActionRelease, ReasonAlreadyGone}, courseTurns},
		"prune: an orphan no more":       {ActionDelete, ReasonPruned, false, func(l *Live) { orphan(l); l.Orphaned = false }, verdict{ActionSkip, ReasonPruned}, courseTurns},
		"prune: tracked again":           {ActionDelete, ReasonPruned, false, func(*Live) {}, verdict{ActionSkip, ReasonPruned}, courseTurns},
		"prune: made again":              {ActionDelete, ReasonPruned, false, func(l *Live) { orphan(l); l.UID = "u2" }, verdict{ActionSkip, ReasonPruned}, courseTurns},
		"prune: as it was backed up":     {ActionDelete, ReasonPruned, true, orphan, verdict{ActionDelete, ReasonPruned}, courseHolds},
		"prune: its status changed":      {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion = "8" }, verdict{ActionDelete, ReasonPruned}, courseHolds},
		"prune: changed since":           {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion, l.Generation = "8", 2 }, verdict{ActionDelete, ReasonPruned}, courseStops},
		"prune: maybe changed since":     {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion, l.Generation = "8", 0 }, verdict{ActionDelete, ReasonPruned}, courseStops},
		"prune: deleted since by others": {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion, l.Generation, l.Deleting = "8", 2, true }, verdict{ActionDelete, ReasonPruned}, courseHolds},
	} {
		then := seen
		s := Step{Action: test.planned, Reason: test.why, Record: record, Live: &then, Exact: test.exact}
		var now *Live
		if test.change != nil {
			l := seen
			l.Owners = slices.Clone(seen.Owners)
			test.change(&l)
			now = &l
		}
		got, course := d.recheck(me, &s, now)
		if (verdict{got.Action, got.Reason}) != test.want || course != test.course || got.Live != now {
			t.Errorf("%s: %s (%s), course %d, want %v, course %d", name, got.Action, got.Reason, course, test.want, test.course)
		}
		if (got.Action == ActionSkip || course == courseStops) && got.Message == "" {
			t.Errorf("%s: it does not say why", name)
		}
	}
}

// TestAbsentVersion: a server-side apply with that version creates what is not
// there, and changes nothing that is, whatever its kind and whoever wrote it.
func TestAbsentVersion(t *testing.T) {
	s := newSite(t)
	widgets := s.widgets()
	for _, text := range []string{
		settings, webDeployment,
		"{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: b}}",
		"{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 80}]}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: x}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: example.com/a}]}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: " + s.Namespace + "-x}}",
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {schedule: '* * * * *', suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}}}}",
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x}, spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: x}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + s.Namespace + "-x}}",
		"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1." + s.Namespace + ".example.org}, spec: {group: " + s.Namespace + ".example.org, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {name: x, namespace: x}}}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things." + s.Namespace + ".example.net}, spec: {group: " + s.Namespace + ".example.net, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
		"{apiVersion: " + widgets + ", kind: Widget, metadata: {name: w}, spec: {fixed: a}}",
	} {
		m := with(parse(t, text), "1", "metadata", "labels", "some")
		s.deleteLater(m)
		onlyNew := with(m, AbsentVersion, "metadata", "resourceVersion")
		made, err := s.tryApply(lynq.FieldManager, onlyNew, false)
		if err != nil || made.GetResourceVersion() == AbsentVersion {
			t.Errorf("%s is not created: %v", text, err)
			continue
		}
		if entries := made.GetManagedFields(); len(entries) == 0 || entries[0].Operation != "Apply" {
			t.Errorf("%s: it is managed by %v, want an apply", text, entries)
		}
		for _, force := range []bool{false, true} {
			if _, err := s.tryApply(lynq.FieldManager, onlyNew, force); problemOf(err).kind != problemMoved {
				t.Errorf("%s, there already, by ourselves: %v", text, err)
			}
		}
		changed := with(onlyNew, "b", "metadata", "labels", "a")
		if _, err := s.tryApply("other", changed, true); problemOf(err).kind != problemMoved {
			t.Errorf("%s, there already, by another manager: %v", text, err)
		}
		if labels := s.get(m).GetLabels(); labels["a"] != "" {
			t.Errorf("%s was changed: %v", text, labels)
		}
	}
}
