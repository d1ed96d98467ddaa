package load

import (
	"strings"
	"testing"
)

// TestUnknownNodes: what could be nodes of several forms is told how those with a
// dash in their names call theirs.
func TestUnknownNodes(t *testing.T) {
	const none = "--node: there is no node acme-eu-web (a node is an active row and a form, named UID-FORM)"
	for forms, want := range map[string]string{
		"web":        none,
		"eu-web":     none, // the node is there by either name, or not at all
		"eu-web web": none + "; row acme with form eu-web is called acme-eu-web-897520f7",
	} {
		if got := UnknownNodes([]string{"acme-eu-web"}, strings.Fields(forms)).Err.Error(); got != want {
			t.Errorf("%s: %s", forms, got)
		}
	}
}
