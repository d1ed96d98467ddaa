package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func run(i int) *history.Entry {
	at := time.Date(2026, 3, 4, 4, 0, i, 0, time.UTC)
	return &history.Entry{Run: history.NameRun(at, "abcd"), Time: at, Command: "apply", Outcome: history.OutcomeDone}
}

// TestRunsAtOnce checks that parallel runs all add their entries. A run that knows the
// current history needs no read.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s, hub := store.New(a.Client.ConfigMaps()), lynq.HubKey{Namespace: a.Namespace, Name: "crm"}
	begins := func(some bool) func() (bool, error) { return func() (bool, error) { return some, nil } }
	if cm, err := s.AddToHistory(t.Context(), hub, run(0), nil, begins(false)); cm != nil || err != nil {
		t.Fatalf("a hub without a record has a history: %v", err)
	}
	cm, err := s.AddToHistory(t.Context(), hub, run(1), nil, begins(true))
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for i := range 4 {
		writing.Go(func() {
			if _, err := s.AddToHistory(t.Context(), hub, run(2+i), cm, begins(false)); err != nil {
				t.Error(err)
			}
		})
	}
	writing.Wait()
	all, unread, err := s.Histories(t.Context(), a.Namespace)
	if err != nil || unread != nil || len(all) != 1 || all[0].Hub != hub || len(all[0].Entries) != 5 {
		t.Fatalf("%+v: %v, %v", all, unread, err)
	}
	if cm, err = s.AddToHistory(t.Context(), hub, run(6), nil, begins(false)); err != nil {
		t.Fatal(err)
	}
	a.Requests()
	if _, err = s.AddToHistory(t.Context(), hub, run(7), cm, begins(false)); err != nil {
		t.Fatal(err)
	}
	a.SameRequests(t, "a known history", "update")

	// A ConfigMap with the history's name that isn't a history remains.
	permit := func(uid types.UID) (decide.Permit, error) { return decide.PermitHistory(hub, 0, uid) }
	name := "configmap/" + history.Name("crm")
	a.Kubectl(t, "", "label", name, wellknown.LabelRecord+"-")
	_, err = s.AddToHistory(t.Context(), hub, run(8), nil, begins(true))
	if err == nil || !strings.Contains(fmt.Sprint(err), "they are not those of a hub's history") {
		t.Errorf("a ConfigMap without labels: %v", err)
	}
	if err := s.RemoveHistory(t.Context(), hub, permit); err != nil {
		t.Error(err)
	}
	a.Kubectl(t, "", "label", name, wellknown.LabelRecord+"="+wellknown.RecordHistory)
	if err := s.RemoveHistory(t.Context(), hub, permit); err != nil {
		t.Error(err)
	}
	a.Absent(t, name)
	if err := s.RemoveHistory(t.Context(), hub, permit); err != nil {
		t.Errorf("none: %v", err)
	}
}
