package watch_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// at is a second of a test.
func at(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }

// writer is an entry of managedFields.
func writer(manager string, operation metav1.ManagedFieldsOperationType, subresource string, second int) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Subresource: subresource, APIVersion: "v1",
		Time: &metav1.Time{Time: at(second)}, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
	}
}

// object is one that lynq applied in second 10, as changed has it.
func object(changed func(*metav1.PartialObjectMetadata)) watch.Fingerprint {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: "a", Generation: 1, ResourceVersion: "1",
		ManagedFields: []metav1.ManagedFieldsEntry{writer(wellknown.FieldManager, metav1.ManagedFieldsOperationApply, "", 10)},
	}}
	changed(m)
	return watch.FingerprintOf(lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, m)
}

// edited is that another client wrote what lynq had, in a second.
func edited(second int) func(*metav1.PartialObjectMetadata) {
	return func(m *metav1.PartialObjectMetadata) {
		m.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(fmt.Sprintf(`{"f:spec":{"f:left%d":{}}}`, second))
		scaled(second)(m)
	}
}

// removed is that another client removed a field that lynq wrote.
func removed(m *metav1.PartialObjectMetadata) {
	m.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{}`)
}

// merged is that lynq wrote by updates.
func merged(m *metav1.PartialObjectMetadata) {
	m.ManagedFields[0] = writer(wellknown.FieldManager, metav1.ManagedFieldsOperationUpdate, "", 10)
}

// scaled is that another client wrote a field of its own, in a second.
func scaled(second int) func(*metav1.PartialObjectMetadata) {
	return func(m *metav1.PartialObjectMetadata) {
		m.ManagedFields = append(m.ManagedFields, writer("kubectl-edit", metav1.ManagedFieldsOperationUpdate, "", second))
	}
}

func TestObjectMatters(t *testing.T) {
	t.Parallel()
	none := func(*metav1.PartialObjectMetadata) {}
	and := func(changes ...func(*metav1.PartialObjectMetadata)) func(*metav1.PartialObjectMetadata) {
		return func(m *metav1.PartialObjectMetadata) {
			for _, c := range changes {
				c(m)
			}
		}
	}
	version := func(m *metav1.PartialObjectMetadata) { m.ResourceVersion = "2" }
	generation := func(m *metav1.PartialObjectMetadata) { m.Generation, m.ResourceVersion = 2, "2" }
	ungenerated := func(m *metav1.PartialObjectMetadata) { m.Generation = 0 }
	status := func(m *metav1.PartialObjectMetadata) {
		m.ResourceVersion = "2"
		m.ManagedFields = append(m.ManagedFields, writer("kube-controller-manager", metav1.ManagedFieldsOperationUpdate, "status", 20))
	}
	deleting := func(m *metav1.PartialObjectMetadata) { m.DeletionTimestamp = &metav1.Time{Time: at(20)} }
	another := func(m *metav1.PartialObjectMetadata) { m.UID = types.UID("b") }
	untimed := func(m *metav1.PartialObjectMetadata) { m.ManagedFields[0].Time = nil }
	for _, test := range []struct {
		name        string
		before, now func(*metav1.PartialObjectMetadata) // before is nil for none
		want        bool
	}{
		{"we create it", nil, none, false},
		{"another client creates it", nil, edited(20), true},
		{"we write it", none, generation, false},
		{"its status changes", none, status, false},
		{"its status changes after another client wrote", edited(20), and(edited(20), status), false},
		{"another client writes it", none, and(edited(20), generation), true},
		{"in the second in which we did", none, and(edited(10), generation), true},
		{"another client writes its labels", none, and(edited(20), version), true},
		{"another client writes a field of its own", none, and(scaled(20), generation), false},
		{"of an object that lynq merges", merged, and(merged, scaled(20), generation), true},
		{"the status of that one", merged, and(merged, status), false},
		{"another client marks it", none, and(scaled(20), version, func(m *metav1.PartialObjectMetadata) {
			m.Annotations = map[string]string{wellknown.AnnotationMode: wellknown.ModeUnmanaged}
		}), true},
		{"and again", edited(20), and(edited(30), version), true},
		{"we apply it", none, and(func(m *metav1.PartialObjectMetadata) {
			m.ManagedFields[0] = writer(wellknown.FieldManager, metav1.ManagedFieldsOperationApply, "", 20)
		}, generation), false},
		{"we update what we merge", merged, and(func(m *metav1.PartialObjectMetadata) {
			m.ManagedFields[0] = writer(wellknown.FieldManager, metav1.ManagedFieldsOperationUpdate, "", 20)
		}, generation), false},
		{"another client updates it in our name", none, and(func(m *metav1.PartialObjectMetadata) {
			m.ManagedFields = append(m.ManagedFields, writer(wellknown.FieldManager, metav1.ManagedFieldsOperationUpdate, "", 20))
		}, generation), true},
		{"we write what another client wrote", edited(5), and(edited(5), generation), false},
		{"another client removes a field", none, and(removed, generation), true},
		{"of a kind without generations", ungenerated, and(ungenerated, removed, version), true},
		{"of an object that lynq merges, too", merged, and(merged, removed, generation), true},
		{"of one of a kind without generations", and(merged, ungenerated), and(merged, ungenerated, removed, version), true},
		{"a field of its own", scaled(5), version, false},
		{"a field of its own, which lynq merged into", and(merged, scaled(5)), and(merged, version), true},
		{"and we put it back", removed, and(func(m *metav1.PartialObjectMetadata) {
			m.ManagedFields[0] = writer(wellknown.FieldManager, metav1.ManagedFieldsOperationApply, "", 20)
		}, generation), false},
		{"its status, of a kind without generations, which lynq merges", and(merged, ungenerated), and(merged, ungenerated, status), false},
		{"a kind without generations", and(merged, ungenerated, scaled(20)), and(merged, ungenerated, scaled(20), version), true},
		{"the same, told again", and(merged, ungenerated, scaled(20)), and(merged, ungenerated, scaled(20)), false},
		{"it is being deleted", none, deleting, true},
		{"it still is", deleting, and(deleting, version), false},
		{"another is in its place", edited(20), and(edited(20), another), true},
		{"who wrote when is not known", and(merged, untimed), and(merged, untimed, generation), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var before *watch.Fingerprint
			if test.before != nil {
				s := object(test.before)
				before = &s
			}
			if got := watch.ObjectMatters(before, object(test.now)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestRecordMatters(t *testing.T) {
	t.Parallel()
	record := func(deleting bool, approved string) watch.Fingerprint {
		return watch.Fingerprint{UID: "a", Deleting: deleting, Approved: approved, Ours: true}
	}
	plain := record(false, "")
	for _, test := range []struct {
		name   string
		before *watch.Fingerprint
		now    watch.Fingerprint
		want   bool
	}{
		{"we make it", nil, plain, false},
		{"we write it", &plain, watch.Fingerprint{UID: "a", ResourceVersion: "2", Ours: true}, false},
		{"another client writes it", &plain, watch.Fingerprint{UID: "a", ResourceVersion: "2"}, true},
		{"that is told again", &watch.Fingerprint{UID: "a", ResourceVersion: "2"}, watch.Fingerprint{UID: "a", ResourceVersion: "2"}, false},
		{"another client makes it", nil, watch.Fingerprint{UID: "a"}, true},
		{"it is being deleted", &plain, record(true, ""), true},
		{"what is held is approved", &plain, record(false, "digest"), true},
		{"the approval was used", &watch.Fingerprint{UID: "a", Approved: "digest", Ours: true}, plain, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := watch.RecordMatters(test.before, test.now); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// closed reports whether a channel is closed.
func closed(noted <-chan struct{}) bool {
	select {
	case <-noted:
		return true
	default:
		return false
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	changes := watch.NewChanges()
	muted := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "muted"}
	k := changes.NewKind(lynq.APIResource{Group: "apps", Kind: "Deployment"}, watch.ObjectMatters, func(r lynq.Ref) bool { return r == muted })
	tell := func(name string, second int) {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "a", Generation: int64(second)}}
		scaled(second)(m)
		k.ReadMetadata(m)()
	}
	noted := changes.Noted()
	if tell("a", 1); closed(noted) || changes.Any() {
		t.Error("what was there before the watch matters")
	}
	if k.Synced(); !closed(noted) || !changes.Any() {
		t.Error("what happened before the watch was there does not matter")
	}
	if changes.Pressing() {
		t.Error("the first list of a watch ends a round early")
	}
	if k.Synced(); !changes.Pressing() || changes.Why() != "a watch of the cluster started again, and any object may have changed" {
		t.Error("a watch that started again doesn't end a round early")
	}
	if _, all := changes.Take(); !all || changes.Pressing() || changes.Any() {
		t.Error("not all objects are to be looked at, or they still press")
	}
	tell("a", 2)
	tell("a", 3)
	if !changes.Pressing() {
		t.Error("a changed object doesn't end a round early")
	}
	if objects, all := changes.Take(); all || len(objects) != 1 {
		t.Errorf("two changes of an object are %v", objects)
	}
	noted = changes.Noted()
	tell("muted", 4)
	if k.Gone("shop", "muted", "a"); closed(noted) || changes.Any() {
		t.Error("changes of a muted object matter")
	}
	if k.Gone("shop", "a", "a"); !closed(noted) || !changes.Any() {
		t.Error("it does not matter that an object is gone")
	}
	changes.Take()
	noted = changes.Noted()
	if changes.Signal(); !closed(noted) || changes.Any() {
		t.Error("a signal wakes nobody, or leaves a change")
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{-3: 0, 0: 0, 1: 5 * time.Second, 2: 10 * time.Second, 6: 160 * time.Second, 7: 5 * time.Minute, 1000: 5 * time.Minute} {
		if got := watch.Pause(failures); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for idle, want := range map[int]time.Duration{0: 200 * time.Millisecond, 1: 400 * time.Millisecond, 5: 6400 * time.Millisecond, 6: 10 * time.Second, 1000: 10 * time.Second} {
		if got := watch.Settle(idle); got != want {
			t.Errorf("after %d rounds: %s, want %s", idle, got, want)
		}
	}
}

// TestCollect wants rows and files to wait for no other client: neither after rounds that
// found nothing to do, nor while a watch collects changes of the cluster.
func TestCollect(t *testing.T) {
	const noted, wait = 100 * time.Millisecond, 10 * time.Second
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	rounds := func(began watch.Began, wrote bool) (c watch.IdleRounds) {
		for range 8 {
			c.Ended(began, wrote)
		}
		return c
	}
	for name, test := range map[string]struct {
		idle         watch.IdleRounds
		first, later func(*watch.Changes)
		want         time.Duration
	}{
		"first change":                          {watch.IdleRounds{}, func(c *watch.Changes) { c.Note(ref) }, nil, 200 * time.Millisecond},
		"other clients alone":                   {rounds(watch.ByCluster, false), func(c *watch.Changes) { c.Note(ref) }, nil, wait},
		"other clients, again":                  {rounds(watch.ByCluster, false), func(c *watch.Changes) { c.Note(ref) }, func(c *watch.Changes) { c.Note(ref) }, wait},
		"other clients change what is restored": {rounds(watch.ByCluster, true), func(c *watch.Changes) { c.Note(ref) }, nil, 200 * time.Millisecond},
		"rows in conflict were replaced":        {rounds(watch.ByNews, false), func(c *watch.Changes) { c.Note(ref) }, nil, 200 * time.Millisecond},
		"retries failed":                        {rounds(watch.ByTimer, false), func(c *watch.Changes) { c.Note(ref) }, nil, 200 * time.Millisecond},
		"rows, after other clients":             {rounds(watch.ByCluster, false), (*watch.Changes).Wake, nil, 200 * time.Millisecond},
		"files, after other clients":            {rounds(watch.ByCluster, false), (*watch.Changes).NoteAll, nil, 200 * time.Millisecond},
		"rows, while it collects":               {rounds(watch.ByCluster, false), func(c *watch.Changes) { c.Note(ref) }, (*watch.Changes).Wake, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changes, began := watch.NewChanges(), time.Now()
				test.first(changes)
				if test.later != nil {
					time.AfterFunc(noted, func() { test.later(changes) })
				}
				test.idle.Collect(t.Context().Done(), changes)
				if got := time.Since(began); got != test.want {
					t.Errorf("it collected for %s, want %s", got, test.want)
				}
			})
		})
	}
}

func TestFights(t *testing.T) {
	t.Parallel()
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}
	var f watch.Fights
	now := at(0)
	var pauses []time.Duration
	for range 7 {
		now = now.Add(time.Second)
		pause := f.TakenBack(ref, now)
		pauses = append(pauses, pause)
		if f.Muted(ref, now) != (pause > 0) {
			t.Errorf("muted is %t with a pause of %s", f.Muted(ref, now), pause)
		}
		now = now.Add(pause)
	}
	want := []time.Duration{0, 0, 0, 0, 5 * time.Second, 10 * time.Second, 20 * time.Second}
	for i := range want {
		if pauses[i] != want[i] {
			t.Fatalf("pauses %v, want %v", pauses, want)
		}
	}
	last := now.Add(-20 * time.Second)
	if next := f.Next(); !next.Equal(now) || !f.Muted(ref, last) || len(f.Over(last)) > 0 {
		t.Errorf("it matters again at %s, want %s", next, now)
	}
	if over := f.Over(now); len(over) != 1 || over[0] != ref || len(f.Over(now)) > 0 || !f.Next().IsZero() || f.Muted(ref, now) {
		t.Errorf("what is over: %v", over)
	}
	if pause := f.TakenBack(ref, now.Add(10*time.Minute)); pause != 0 {
		t.Errorf("a change long after is a fight: %s", pause)
	}
	if f.Muted(lynq.Ref{Kind: "ConfigMap", Name: "other"}, last) {
		t.Error("others are muted")
	}
}

func TestReminder(t *testing.T) {
	t.Parallel()
	var r watch.Reminder
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	told := 0
	for range 24 * 60 * 60 {
		if r.Due("refused", now) {
			told++
		}
		now = now.Add(time.Second)
	}
	if told != 29 { // 0, 1, 3, 7, 15, 31 and 63 minutes, then each hour
		t.Errorf("it told the same %d times in a day", told)
	}
	if !r.Due("denied", now) || r.Due("denied", now.Add(time.Second)) || !r.Over() || r.Over() || !r.Due("denied", now) {
		t.Error("a text that changed or began again isn't due once")
	}
}
