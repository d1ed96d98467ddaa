package inventory_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// TestID compares with a shell version of the rule in KEP-3659:
//
//	printf %s lynqnode-acme-web.shop.ConfigMap. | openssl dgst -sha256 -binary | basenc --base64url
func TestID(t *testing.T) {
	const want = "applyset-fMvs4rrGYTD63mkwZ3yS__U_1FB8qBi_BwDst63eXHM-v1"
	got := inventory.ID("shop", inventory.Name("acme-web"))
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !naming.IsLabelValue(got) {
		t.Errorf("%s is no label value", got)
	}
}
