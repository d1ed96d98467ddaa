package lynq_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestTextMatches(t *testing.T) {
	fixed := func(s string) lynq.Piece { return lynq.Piece{Fixed: s} }
	uid, gap := lynq.Piece{UID: true}, lynq.Piece{Any: true}
	for _, tt := range []struct {
		text lynq.Text
		s    string
		want bool
	}{
		{nil, "", true},
		{nil, "x", false},
		{lynq.Text{fixed("ops")}, "ops", true},
		{lynq.Text{fixed("ops")}, "ops2", false},
		{lynq.Text{fixed("ops")}, "kube-ops", false},
		{lynq.Text{fixed("t-"), uid}, "t-acme", true},
		{lynq.Text{fixed("t-"), uid}, "t-bolt", false},
		{lynq.Text{fixed("t-"), uid}, "t-acme-x", false},
		{lynq.Text{fixed("t-"), gap}, "t-", true},
		{lynq.Text{fixed("t-"), gap}, "kube-system", false},
		{lynq.Text{gap, fixed("-x")}, "a-x-x", true},
		{lynq.Text{gap, fixed("-x")}, "a-x-y", false},
		{lynq.Text{fixed("a"), gap, fixed("b"), gap, fixed("c")}, "a1b2c", true},
		{lynq.Text{fixed("a"), gap, fixed("b"), gap, fixed("c")}, "a1c2b", false},
		{lynq.Text{fixed("ab"), gap, fixed("ba")}, "aba", false}, // no letter counts twice
		{lynq.Text{fixed("ab"), gap, fixed("ba")}, "abba", true},
		{lynq.Text{gap, uid, gap}, "x-acme-y", true},
		{lynq.Text{gap, uid, gap}, "x-bolt-y", false},
	} {
		t.Run(tt.s, func(t *testing.T) {
			if got := tt.text.Matches("acme", tt.s); got != tt.want {
				t.Errorf("%v matches %q: %t", tt.text, tt.s, got)
			}
		})
	}
}
