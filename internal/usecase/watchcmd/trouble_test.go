package watchcmd

import (
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestUnrenderedNews(t *testing.T) {
	a := inventory.Unrendered{Node: lynq.NodeID{Namespace: "shop", Name: "a-web"}, Message: "bad size"}
	b := inventory.Unrendered{Node: lynq.NodeID{Namespace: "shop", Name: "b-web"}, Message: "bad size"}
	all := "; until its row or form is repaired, lynqctl deletes no object that the row may want"
	for name, tt := range map[string]struct {
		before, now           []inventory.Unrendered
		kind, reason, message string
	}{
		"none":     {},
		"the same": {before: []inventory.Unrendered{a}, now: []inventory.Unrendered{a}},
		"one":      {now: []inventory.Unrendered{a}, kind: "Warning", reason: "RowsNotRendered", message: "node shop/a-web fails to render: bad size" + all},
		"one more": {
			before: []inventory.Unrendered{a}, now: []inventory.Unrendered{a, b},
			kind: "Warning", reason: "RowsNotRendered", message: "node shop/a-web fails to render: bad size (and 1 other node)" + all,
		},
		"repaired": {before: []inventory.Unrendered{a}, kind: "Normal", reason: "RowsRendered", message: "all rows render again"},
	} {
		t.Run(name, func(t *testing.T) {
			news := newsOf(&inventory.Hub{Unrendered: tt.before}, &inventory.Hub{Unrendered: tt.now})
			want := []troubleNews{{tt.kind, tt.reason, tt.message}}
			if tt.reason == "" {
				want = nil
			}
			if !slices.Equal(news, want) {
				t.Errorf("%s: %q, want %q", name, news, want)
			}
		})
	}
}

// TestTroubleNews wants an event when a trouble begins, changes and ends.
func TestTroubleNews(t *testing.T) {
	source := inventory.NewTrouble(inventory.TroubleSource, "no connection")
	refused := inventory.NewTrouble(inventory.TroubleSource, "refused")
	inputs := inventory.NewTrouble(inventory.TroubleInputs, "a.yaml:1: bad")
	for name, tt := range map[string]struct {
		before, now []inventory.Trouble
		want        []troubleNews
	}{
		"none":     {},
		"the same": {before: []inventory.Trouble{source}, now: []inventory.Trouble{source}},
		"one":      {now: []inventory.Trouble{source}, want: []troubleNews{{"Warning", "SourceUnreadable", "no connection"}}},
		"another message": {
			before: []inventory.Trouble{source}, now: []inventory.Trouble{refused}, want: []troubleNews{{"Warning", "SourceUnreadable", "refused"}},
		},
		"over": {before: []inventory.Trouble{source}, want: []troubleNews{{"Normal", "SourceReadable", "this is over: no connection"}}},
		"one for another": {
			before: []inventory.Trouble{source}, now: []inventory.Trouble{inputs},
			want: []troubleNews{{"Warning", "InputsInvalid", "a.yaml:1: bad"}, {"Normal", "SourceReadable", "this is over: no connection"}},
		},
		"inputs are good": {before: []inventory.Trouble{inputs}, want: []troubleNews{{"Normal", "InputsValid", "this is over: a.yaml:1: bad"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if news := newsOf(&inventory.Hub{Troubles: tt.before}, &inventory.Hub{Troubles: tt.now}); !slices.Equal(news, tt.want) {
				t.Errorf("%s: %q, want %q", name, news, tt.want)
			}
		})
	}
}
