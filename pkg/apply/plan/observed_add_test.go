package plan_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestObservedAdd checks that an observation takes what it lacks from another, and tells
// whether anything is new.
func TestObservedAdd(t *testing.T) {
	t.Parallel()
	denied := errors.New("denied")
	job := lynq.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "acme"}
	live, stray, found := &tracking.Live{UID: "live"}, &tracking.Live{UID: "stray"}, &tracking.Live{UID: "found"}
	strays := func(refs ...lynq.Ref) map[lynq.Ref]*tracking.Live {
		all := map[lynq.Ref]*tracking.Live{}
		for _, ref := range refs {
			all[ref] = found
		}
		return all
	}
	for name, tt := range map[string]struct {
		more    plan.Observed
		want    bool
		strays  map[lynq.Ref]*tracking.Live
		unknown map[lynq.Ref]error
	}{
		"nothing":                      {plan.Observed{}, false, map[lynq.Ref]*tracking.Live{claim(): stray}, nil},
		"an object that it couldn't":   {plan.Observed{Unknown: map[lynq.Ref]error{job: denied}}, true, map[lynq.Ref]*tracking.Live{claim(): stray}, map[lynq.Ref]error{job: denied}},
		"an object that it has read":   {plan.Observed{Strays: strays(config())}, false, map[lynq.Ref]*tracking.Live{claim(): stray}, nil},
		"a stray that it has":          {plan.Observed{Strays: strays(claim())}, false, map[lynq.Ref]*tracking.Live{claim(): stray}, nil},
		"a new stray":                  {plan.Observed{Strays: strays(job)}, true, map[lynq.Ref]*tracking.Live{claim(): stray, job: found}, nil},
		"a new stray and known ones":   {plan.Observed{Strays: strays(job, config(), claim())}, true, map[lynq.Ref]*tracking.Live{claim(): stray, job: found}, nil},
		"an unread object and a stray": {plan.Observed{Strays: strays(claim()), Unknown: map[lynq.Ref]error{job: denied}}, true, map[lynq.Ref]*tracking.Live{claim(): stray}, map[lynq.Ref]error{job: denied}},
	} {
		o := plan.Observed{Live: map[lynq.Ref]*tracking.Live{config(): live}, Strays: map[lynq.Ref]*tracking.Live{claim(): stray}, Unknown: map[lynq.Ref]error{}}
		if got := o.Add(&tt.more); got != tt.want {
			t.Errorf("%s: anything is new: %t", name, got)
		}
		if !maps.Equal(o.Strays, tt.strays) || !maps.Equal(o.Unknown, tt.unknown) || len(o.Live) != 1 || o.Live[config()] != live {
			t.Errorf("%s: it has %v, strays %v, unknown %v", name, o.Live, o.Strays, o.Unknown)
		}
	}
}
