package status_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// nowScene is a Ready node with an unchanged Deployment and ConfigMap.
type nowScene struct {
	inv *inventory.Inventory
	now *status.Now
}

func (s *nowScene) app() *inventory.Entry { return &s.inv.Entries[0] }

func (s *nowScene) finds(t status.Type) {
	s.now.Findings = status.FindingsOf([]status.Finding{{
		NodeID: lynq.NodeID{Namespace: "shop", Name: "acme-web"}, Object: s.app().Ref, Type: t, What: "what", Fix: "fix",
	}})
}

func (s *nowScene) is(state ready.State, message string) {
	s.now.Ready[s.app().Ref] = ready.Readiness{State: state, Message: message}
}

func (s *nowScene) recorded(reason, message string) {
	s.inv.Status.Conditions = conditions("True", "False", "False")
	s.inv.Status.Conditions[0].Reason, s.inv.Status.Conditions[0].Message = reason, message
	s.inv.Status.Failed = 1
}

func newNowScene() *nowScene {
	app := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}
	s := &nowScene{
		inv: &inventory.Inventory{
			Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Namespace: "shop", Name: "acme-web"}, Activate: "true",
			Entries: []inventory.Entry{
				{Ref: app, UID: "1", Digest: "d", Ready: true},
				{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}, UID: "2", Digest: "d", Ready: true},
			},
			Status: inventory.Status{Desired: 2, Ready: 2, Conditions: conditions("False", "False", "True")},
		},
		now: &status.Now{Ready: map[lynq.Ref]ready.Readiness{}},
	}
	s.is(ready.StateReady, "")
	return s
}

// loses makes the app lack a replica in a generation. Its entry has generation 2.
func (s *nowScene) loses(generation int64) {
	s.app().Generation = 2
	s.now.Ready[s.app().Ref] = ready.Readiness{State: ready.StateWaiting, Message: "2 of 3", Part: ready.Version{UID: "1", Generation: generation}}
}

// keeps records that the form dropped the app, and that lynqctl keeps it.
func (s *nowScene) keeps() {
	ref := s.app().Ref
	s.inv.Status.Objects = append(s.inv.Status.Objects, inventory.ObjectStatus{RefFields: lynq.RefFields(ref), Reason: "Unmanaged", Dropped: true})
}

// TestNow checks that a node shows the current state of its objects, and recorded facts
// for the rest.
func TestNow(t *testing.T) {
	const app = "Deployment/shop/acme: "
	since := at(3)
	for name, tt := range map[string]struct {
		change    func(*nowScene)
		condition string
		message   string
		ready     int
		failed    int
		since     time.Time
	}{
		"as recorded":                   {func(*nowScene) {}, "Ready", "", 2, 0, since},
		"gone":                          {func(s *nowScene) { s.finds(status.Missing) }, "Degraded: Missing", app + "what: fix", 1, 0, time.Time{}},
		"drifted":                       {func(s *nowScene) { s.finds(status.Drifted) }, "Degraded: Drifted", app + "what: fix", 2, 0, time.Time{}},
		"replaced":                      {func(s *nowScene) { s.finds(status.Replaced) }, "Degraded: Replaced", app + "what: fix", 1, 1, time.Time{}},
		"being deleted":                 {func(s *nowScene) { s.finds(status.FindingLeaving) }, "Degraded: Leaving", app + "what: fix", 1, 1, time.Time{}},
		"an orphan":                     {func(s *nowScene) { s.finds(status.FindingOrphaned) }, "Orphaned", app + "what: fix", 2, 0, time.Time{}},
		"not written":                   {func(s *nowScene) { s.app().UID = ""; s.finds(status.Unconfirmed) }, "Progressing", app + "what: fix", 1, 0, time.Time{}},
		"not confirmed":                 {func(s *nowScene) { s.app().UID = "u"; s.finds(status.Unconfirmed) }, "Ready", "", 2, 0, since},
		"was ready":                     {func(s *nowScene) { s.is(ready.StateWaiting, "0 of 1") }, "Degraded: NotReady", app + "0 of 1", 1, 1, time.Time{}},
		"gave up":                       {func(s *nowScene) { s.app().Ready = false; s.is(ready.StateFailed, "no") }, "Degraded: NotReady", app + "no", 1, 1, time.Time{}},
		"was never seen":                {func(s *nowScene) { s.app().Ready = false; s.is(ready.StateWaiting, "0 of 1") }, "Progressing", app + "0 of 1", 1, 0, time.Time{}},
		"lost a pod":                    {func(s *nowScene) { s.loses(2) }, "Degraded: PodsLost", app + "2 of 3", 2, 0, time.Time{}},
		"was scaled up by a killed run": {func(s *nowScene) { s.loses(3) }, "Degraded: NotReady", app + "2 of 3", 1, 1, time.Time{}},
		"was scaled up by an autoscaler": {func(s *nowScene) {
			s.loses(3)
			s.now.Ready[s.app().Ref] = s.now.Ready[s.app().Ref].AfterOthers(true)
		}, "Degraded: PodsLost", app + "2 of 3", 2, 0, time.Time{}},
		"was scaled up before its rollout ended": {func(s *nowScene) {
			s.loses(3)
			s.app().Ready = false
			s.now.Ready[s.app().Ref] = s.now.Ready[s.app().Ref].AfterOthers(true)
		}, "Progressing", app + "2 of 3", 1, 0, time.Time{}},
		"lost all its pods": {func(s *nowScene) {
			s.now.Ready[s.app().Ref] = ready.Readiness{State: ready.StateWaiting, Message: "2 of 3"}.AfterOthers(true)
		}, "Degraded: NotReady", app + "2 of 3", 1, 1, time.Time{}},
		"lost a pod while a run is at work": {func(s *nowScene) {
			s.loses(2)
			s.now.Busy = map[lynq.HubKey]bool{{Namespace: "shop", Name: "crm"}: true}
		}, "Degraded: PodsLost", app + "2 of 3", 2, 0, time.Time{}},
		"lost a pod after the wait":   {func(s *nowScene) { s.recorded("NotReady", "late"); s.loses(2) }, "Degraded: PodsLost", app + "2 of 3", 2, 0, time.Time{}},
		"lost a pod after a conflict": {func(s *nowScene) { s.recorded("ResourceConflict", "theirs"); s.loses(2) }, "Degraded: ResourceConflict", "theirs", 2, 1, at(1)},
		"lost a pod, and another object": {func(s *nowScene) {
			s.loses(2)
			s.now.Findings = status.FindingsOf([]status.Finding{{NodeID: s.inv.Node, Object: s.inv.Entries[1].Ref, Type: status.Missing, What: "what", Fix: "fix"}})
		}, "Degraded: Missing", "ConfigMap/shop/acme: what: fix", 1, 0, time.Time{}},
		"with its cause": {func(s *nowScene) {
			s.is(ready.StateWaiting, "0 of 1")
			s.now.Causes = map[lynq.Ref]string{s.app().Ref: "pod a: b"}
		}, "Degraded: NotReady", app + "0 of 1; pod a: b", 1, 1, time.Time{}},
		"taken": {func(s *nowScene) { s.finds(status.Conflict) }, "Degraded: Conflict", app + "what: fix", 2, 1, time.Time{}},
		"a run is at work": {func(s *nowScene) {
			s.finds(status.Drifted)
			s.now.Busy = map[lynq.HubKey]bool{{Namespace: "shop", Name: "crm"}: true}
		}, "Progressing", app + "what: fix", 1, 0, time.Time{}},
		"gone while a run is at work": {func(s *nowScene) {
			s.finds(status.Missing)
			s.now.Busy = map[lynq.HubKey]bool{{Namespace: "shop", Name: "crm"}: true}
		}, "Degraded: Missing", app + "what: fix", 1, 0, time.Time{}},
		"ready after the wait": {func(s *nowScene) { s.recorded("NotReady", "late") }, "Ready", "", 2, 0, time.Time{}},
		"still not ready": {func(s *nowScene) {
			s.recorded("NotReady", "late")
			s.app().Ready = false
			s.is(ready.StateWaiting, "0 of 1")
		}, "Degraded: NotReady", app + "0 of 1", 1, 1, at(1)},
		"not waited for, not ready": {func(s *nowScene) {
			s.app().Ready, s.app().Unwaited = false, true
			s.is(ready.StateWaiting, "not bound")
		}, "Ready", "", 1, 0, at(3)},
		"not waited for, failed": {func(s *nowScene) {
			s.app().Ready, s.app().Unwaited = false, true
			s.is(ready.StateFailed, "no")
		}, "Ready", "", 1, 0, at(3)},
		"not waited for, gone": {func(s *nowScene) {
			s.app().Ready, s.app().Unwaited = false, true
			s.finds(status.Missing)
		}, "Degraded: Missing", app + "what: fix", 1, 0, time.Time{}},
		"skipped after the wait":  {func(s *nowScene) { s.recorded("NotReady", "late"); s.inv.Status.Skipped = 1 }, "Degraded: NotReady", "late", 2, 1, at(1)},
		"never made":              {func(s *nowScene) { s.recorded("NotReady", "late"); s.inv.Status.Desired = 3 }, "Degraded: NotReady", "late", 2, 1, at(1)},
		"dropped, and kept":       {func(s *nowScene) { s.inv.Status.Desired = 1; s.keeps() }, "Ready", "", 1, 0, since},
		"dropped, and gone":       {func(s *nowScene) { s.inv.Status.Desired = 1; s.keeps(); s.finds(status.Missing) }, "Degraded: Missing", app + "what: fix", 1, 0, time.Time{}},
		"a conflict stays":        {func(s *nowScene) { s.recorded("ResourceConflict", "theirs") }, "Degraded: ResourceConflict", "theirs", 2, 1, at(1)},
		"a conflict and not well": {func(s *nowScene) { s.recorded("ResourceConflict", "theirs"); s.is(ready.StateFailed, "no") }, "Degraded: ResourceConflict", "theirs; " + app + "no", 1, 1, at(1)},
		"ready, not waited for":   {func(s *nowScene) { s.inv.Status.Conditions = conditions("False", "True", "Unknown") }, "Ready", "", 2, 0, time.Time{}},
		"no run ended":            {func(s *nowScene) { s.inv.Status.Conditions = nil }, "Unknown", "", 2, 0, time.Time{}},
		"could not go": {func(s *nowScene) {
			s.recorded("NotReady", "held")
			s.inv.Activate = "false"
			s.finds(status.Missing)
		},
			"Degraded: NotReady", "held", 2, 1, at(1)},
		"is held": {func(s *nowScene) {
			s.recorded("NotReady", "held")
			s.inv.Activate = "false"
			s.finds(status.FindingLeaving)
		},
			"Degraded: Leaving", app + "what: fix", 1, 1, time.Time{}},
		"on its way out": {func(s *nowScene) { s.inv.Deleting = true; s.is(ready.StateFailed, "no") }, "Leaving", "", 2, 0, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newNowScene()
			tt.change(s)
			got := s.now.Of(s.inv)
			want := status.Of(s.inv)
			want.Condition, want.Message, want.Since, want.Well = tt.condition, tt.message, tt.since, tt.condition == "Ready" || tt.condition == "Degraded: PodsLost"
			want.Ready, want.Failed = tt.ready, tt.failed
			switch tt.condition {
			case "Degraded: Missing":
				want.Missing = 1
			case "Degraded: Drifted":
				want.Drifted = 1
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestNowUnseen checks that a node with unread objects shows its recorded state, with a
// mark.
func TestNowUnseen(t *testing.T) {
	s := newNowScene()
	s.now.Unseen = map[lynq.NodeKey]bool{{Namespace: "shop", Name: "acme-web"}: true}
	s.finds(status.Missing)
	want := status.Of(s.inv)
	want.Recorded = true
	for name, got := range map[string]status.Node{"unseen": s.now.Of(s.inv), "nothing was looked at": (*status.Now)(nil).Of(s.inv)} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestNowManyTroubles checks that a message names the worst problems and counts the rest.
func TestNowManyTroubles(t *testing.T) {
	s := newNowScene()
	s.inv.Entries = nil
	for _, name := range []string{"a", "b", "c", "d"} {
		s.inv.Entries = append(s.inv.Entries, inventory.Entry{Ref: lynq.Ref{Kind: "Pod", Namespace: "shop", Name: name}, Ready: name == "d"})
		s.now.Ready[s.inv.Entries[len(s.inv.Entries)-1].Ref] = ready.Waiting("no %s", name)
	}
	n := s.now.Of(s.inv)
	if want := "Pod/shop/d: no d; Pod/shop/a: no a; Pod/shop/b: no b; and 1 more"; n.Message != want || n.Condition != "Degraded: NotReady" {
		t.Errorf("%s, %s", n.Condition, n.Message)
	}
}
