package plan_test

import (
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAnnotated checks that an object that is created once needs all three annotations.
func TestAnnotated(t *testing.T) {
	t.Parallel()
	o := &plan.Object{ID: "config", Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteRetain}}}
	for name, tt := range map[string]struct {
		live tracking.Live
		want bool
	}{
		"all":                     {tracking.Live{CreatedOnce: true, ResourceID: "config", DeletionPolicy: lynq.DeleteRetain}, true},
		"not that of its making":  {tracking.Live{ResourceID: "config", DeletionPolicy: lynq.DeleteRetain}, false},
		"another id":              {tracking.Live{CreatedOnce: true, ResourceID: "other", DeletionPolicy: lynq.DeleteRetain}, false},
		"another deletion policy": {tracking.Live{CreatedOnce: true, ResourceID: "config", DeletionPolicy: lynq.DeleteDelete}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := o.Annotated(&tt.live); got != tt.want {
				t.Errorf("%s: it is annotated: %t", name, got)
			}
		})
	}
}

// TestLeftAlone checks that a run leaves alone what a selector leaves out and what a rule
// excludes.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		object plan.Object
		want   bool
	}{
		"neither":  {plan.Object{}, false},
		"left out": {plan.Object{LeftOut: true}, true},
		"excluded": {plan.Object{Exclusion: &lynq.Exclusion{Kind: "Secret"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tt.object.LeftAlone(); got != tt.want {
				t.Errorf("%s: it is left alone: %t", name, got)
			}
		})
	}
}

// TestRenderError checks that an error of a row wraps its cause.
func TestRenderError(t *testing.T) {
	t.Parallel()
	cause := errors.New("no column")
	if err := (&plan.RenderError{Err: cause, Masked: "masked"}); !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("it wraps %v: %v", err.Unwrap(), err)
	}
}

// TestAwaited checks that a node waits for objects with a readiness, unless the form says
// otherwise.
func TestAwaited(t *testing.T) {
	t.Parallel()
	deployment, service := lynq.Ref{Group: "apps", Kind: "Deployment", Name: "acme"}, lynq.Ref{Kind: "Service", Name: "acme"}
	for name, tt := range map[string]struct {
		ref              lynq.Ref
		unwaited, atOnce bool
		want             bool
	}{
		"a Deployment":                   {deployment, false, false, true},
		"a Deployment without a wait":    {deployment, true, false, false},
		"a ConfigMap":                    {config(), false, false, false},
		"a ConfigMap without a wait":     {config(), true, false, false},
		"a Service with a load balancer": {service, false, false, true},
		"a Service that is ready":        {service, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &plan.Object{Ref: tt.ref, AtOnce: tt.atOnce, Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Unwaited: tt.unwaited}}}
			if got := o.Awaited(); got != tt.want {
				t.Errorf("%s: it is awaited: %t", name, got)
			}
		})
	}
}

// TestCompleted checks that an object did its work in its current version, or once if it is
// created once.
func TestCompleted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		digest string // of the entry
		phase  inventory.Phase
		change func(*lynq.Policy)
		want   bool
	}{
		"in this version":        {"d", inventory.PhaseCompleted, func(*lynq.Policy) {}, true},
		"in an older version":    {"older", inventory.PhaseCompleted, func(*lynq.Policy) {}, false},
		"once, in an older one":  {"older", inventory.PhaseCompleted, func(p *lynq.Policy) { p.Creation = lynq.CreateOnce }, true},
		"not yet":                {"d", "", func(*lynq.Policy) {}, false},
		"once, but not yet":      {"older", "", func(p *lynq.Policy) { p.Creation = lynq.CreateOnce }, false},
		"it has failed":          {"d", inventory.PhaseFailed, func(*lynq.Policy) {}, false},
		"it is purged no longer": {"d", inventory.PhaseCompleted, func(p *lynq.Policy) { p.PurgeOrder = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &plan.Object{Digest: "d", Policy: &lynq.Policy{PurgeOrder: new(int)}}
			tt.change(o.Policy)
			if got := o.Completed(&inventory.Entry{Digest: tt.digest, Phase: tt.phase}); got != tt.want {
				t.Errorf("%s: its work is done: %t", name, got)
			}
		})
	}
}
