package handover

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestHint advises to delete webhooks only if the operator's own webhook is down.
func TestHint(t *testing.T) {
	down := func(name string) error {
		return apierrors.NewInternalError(errors.New(`failed calling webhook "` + name + `": failed to call webhook: EOF`))
	}
	for _, c := range []struct {
		err  error
		want string // a part of the hint, "" for none
	}{
		{nil, ""},
		{errors.New("failed calling webhook"), ""}, // only its text looks like an answer
		{apierrors.NewInternalError(errors.New("etcdserver: leader changed")), ""},
		{down("vlynqnode-v1.kb.io"), "kubectl delete)"},
		{down("validate.policy.example.com"), "repair the service of webhook validate.policy.example.com"},
		{apierrors.NewInternalError(errors.New("conversion webhook for operator.lynq.sh/v1, Kind=LynqNode failed: EOF")), "repair the conversion webhook"},
	} {
		got := hint(c.err)
		switch {
		case c.want == "" && !errors.Is(got, c.err):
			t.Errorf("%v became %v", c.err, got)
		case c.want != "" && (!errors.Is(got, c.err) || !strings.Contains(got.Error(), c.want)):
			t.Errorf("%v: got %v, want %q", c.err, got, c.want)
		}
	}
}
