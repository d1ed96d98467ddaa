package faultproxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScheduleNext(t *testing.T) {
	patch := Request{Verb: "patch", Resource: "deployments.apps", Namespace: "n", Name: "d"}
	tests := []struct {
		name  string
		rules []Rule
		want  []Rule // for patch, again and again
	}{
		{"no rules", nil, []Rule{{}, {}}},
		{"every time", []Rule{{Status: 500}}, []Rule{{Status: 500}, {Status: 500}}},
		{"twice", []Rule{{Status: 500, Times: 2}}, []Rule{{Status: 500, Times: 2}, {Status: 500, Times: 2}, {}}},
		{"the second", []Rule{{Status: 500, Skip: 1, Times: 1}}, []Rule{{}, {Status: 500, Skip: 1, Times: 1}, {}}},
		{"one after the other", []Rule{{Status: 429, Times: 1}, {Status: 503, Times: 1}},
			// The second rule didn't get the request that the first one ended.
			[]Rule{{Status: 429, Times: 1}, {Status: 503, Times: 1}, {}}},
		{"delays add up", []Rule{{Delay: time.Second}, {Delay: time.Second, Status: 500, Times: 1}},
			[]Rule{{Delay: 2 * time.Second, Status: 500, Times: 1}, {Delay: time.Second}}},
		{"other verb", []Rule{{Verb: "get", Status: 500}}, []Rule{{}}},
		{"other resource", []Rule{{Resource: "deployments", Status: 500}}, []Rule{{}}},
		{"other namespace", []Rule{{Namespace: "m", Status: 500}}, []Rule{{}}},
		{"other name", []Rule{{Name: "e", Status: 500}}, []Rule{{}}},
		{"no match", []Rule{{Match: func(q Request) bool { return q.Name != "d" }, Status: 500}}, []Rule{{}}},
		{"not a page", []Rule{{Continue: true, Status: 410}}, []Rule{{}}},
		{"all of it", []Rule{{Verb: "patch", Resource: "deployments.apps", Namespace: "n", Name: "d", End: CutAfter}},
			[]Rule{{Verb: "patch", Resource: "deployments.apps", Namespace: "n", Name: "d", End: CutAfter}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSchedule(tt.rules)
			var got []Rule
			for range tt.want {
				got = append(got, s.next(patch))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
