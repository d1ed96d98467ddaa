package store_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/proxied"
)

var cluster harness.Shared

type api struct{ *proxied.API }

func newAPI(t *testing.T) *api {
	t.Helper()
	return &api{proxied.New(t, &cluster)}
}
