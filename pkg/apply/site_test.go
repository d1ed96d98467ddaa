package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

// site is a site of this package's tests.
type site struct{ *sites.Site }

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{sites.New(t, &trackedCluster)}
}

var trackedCluster harness.Shared
