package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestWords(t *testing.T) {
	for in, want := range map[time.Duration]string{
		-time.Second: "0s", 999 * time.Millisecond: "0s", 61 * time.Second: "1m1s", 3*time.Hour + 61*time.Second: "3h1m",
	} {
		if got := age(in); got != want {
			t.Errorf("age(%v) is %q, want %q", in, got, want)
		}
	}
	var all []string
	for _, a := range append(actions(), "other") {
		all = append(all, strings.Join([]string{string(a), done(a), planned(a), ended(a, report.OutcomeFailed), sign(a)}, ", "))
	}
	want := []string{
		"create, created, to create, create failed, +",
		"update, updated, to update, update failed, ~",
		"recreate, recreated, to recreate, recreate failed, ~",
		"adopt, adopted, to adopt, adopt failed, +",
		"track, relabelled, to relabel, relabel failed, ~",
		"purge, purged, to purge, purge failed, -",
		"delete, deleted, to delete, delete failed, -",
		"collect, left to the garbage collector, to leave to the garbage collector, collect failed, -",
		"orphan, orphaned, to orphan, orphan failed, -",
		"release, no longer managed, to stop managing, stop managing failed, -",
		"block, conflicted, in conflict, failed, !",
		"skip, skipped, to skip, failed,  ",
		"keep, unchanged, unchanged, failed,  ",
		"other, other, to other, other failed,  ",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}

func TestSafeJSON(t *testing.T) {
	got := string(tty.SafeJSON([]byte("\"a\u009b\u007f\u202e\U000e0001é\"")))
	if want := `"a\u009b\u007f\u202e\udb40\udc01é"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUntold(t *testing.T) {
	ref := lynq.Ref{Kind: "Service", Namespace: "shop", Name: "b"}
	object := report.Details{Object: ref, Outcome: report.OutcomeFailed, Message: "2"}
	cut := object
	cut.Interrupted = true
	for name, c := range map[string]struct {
		problems []report.Details
		want     string
		objects  int
	}{
		"only a message":           {nil, "a: 1; b: 2; c: 3", 0},
		"of the node":              {[]report.Details{{Message: "1"}, {Message: "3"}}, "1; 3", 0},
		"between":                  {[]report.Details{{Message: "1"}, object, {Message: "3"}}, "1; 3", 1},
		"only objects":             {[]report.Details{object, object}, "", 2},
		"an interrupted object":    {[]report.Details{object, cut}, "Service/shop/b: 2", 1},
		"an object without a line": {[]report.Details{{Object: ref, Message: "lynqctl keeps the inventory"}}, "Service/shop/b: lynqctl keeps the inventory", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := &report.Event{Details: report.Details{Message: "a: 1; b: 2; c: 3"}, Problems: c.problems}
			if got, objects := untold(e); got.Message != c.want || objects != c.objects {
				t.Errorf("%q, %d objects, want %q, %d", got.Message, objects, c.want, c.objects)
			}
		})
	}
}
