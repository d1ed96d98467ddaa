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
	live, unlisted, found := &tracking.Live{UID: "live"}, &tracking.Live{UID: "unlisted"}, &tracking.Live{UID: "found"}
	known := func(refs ...lynq.Ref) map[lynq.Ref]*tracking.Live {
		all := map[lynq.Ref]*tracking.Live{}
		for _, ref := range refs {
			all[ref] = found
		}
		return all
	}
	for name, tt := range map[string]struct {
		more     plan.Observed
		want     bool
		unlisted map[lynq.Ref]*tracking.Live
		unknown  map[lynq.Ref]error
	}{
		"nothing":                                 {plan.Observed{}, false, map[lynq.Ref]*tracking.Live{claim(): unlisted}, nil},
		"an object that it couldn't":              {plan.Observed{Unknown: map[lynq.Ref]error{job: denied}}, true, map[lynq.Ref]*tracking.Live{claim(): unlisted}, map[lynq.Ref]error{job: denied}},
		"an object that it has read":              {plan.Observed{Unlisted: known(config())}, false, map[lynq.Ref]*tracking.Live{claim(): unlisted}, nil},
		"an unlisted object that it has":          {plan.Observed{Unlisted: known(claim())}, false, map[lynq.Ref]*tracking.Live{claim(): unlisted}, nil},
		"a new unlisted object":                   {plan.Observed{Unlisted: known(job)}, true, map[lynq.Ref]*tracking.Live{claim(): unlisted, job: found}, nil},
		"a new unlisted object and known ones":    {plan.Observed{Unlisted: known(job, config(), claim())}, true, map[lynq.Ref]*tracking.Live{claim(): unlisted, job: found}, nil},
		"an unread object and an unlisted object": {plan.Observed{Unlisted: known(claim()), Unknown: map[lynq.Ref]error{job: denied}}, true, map[lynq.Ref]*tracking.Live{claim(): unlisted}, map[lynq.Ref]error{job: denied}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := plan.Observed{Live: map[lynq.Ref]*tracking.Live{config(): live}, Unlisted: map[lynq.Ref]*tracking.Live{claim(): unlisted}, Unknown: map[lynq.Ref]error{}}
			if got := o.Add(&tt.more); got != tt.want {
				t.Errorf("%s: anything is new: %t", name, got)
			}
			if !maps.Equal(o.Unlisted, tt.unlisted) || !maps.Equal(o.Unknown, tt.unknown) || len(o.Live) != 1 || o.Live[config()] != live {
				t.Errorf("%s: it has %v, unlisted %v, unknown %v", name, o.Live, o.Unlisted, o.Unknown)
			}
		})
	}
}
