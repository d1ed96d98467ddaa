package fields

import (
	"testing"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

var cluster harness.Shared

// site is a site of this package's tests.
type site struct{ *sites.Site }

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{sites.New(t, &cluster)}
}
