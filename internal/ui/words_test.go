package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
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
	for _, c := range []struct {
		told []string
		want string
	}{
		{nil, "a: 1; b: 2; c: 3"},
		{[]string{"a: 1"}, "b: 2; c: 3"},
		{[]string{"b: 2"}, "a: 1; c: 3"},
		{[]string{"c: 3"}, "a: 1; b: 2"},
		{[]string{"c: 3", "a: 1", "b: 2"}, ""},
		{[]string{"else"}, "a: 1; b: 2; c: 3"},
	} {
		if got := untold("a: 1; b: 2; c: 3", c.told); got != c.want {
			t.Errorf("without %q: %q, want %q", c.told, got, c.want)
		}
	}
}
