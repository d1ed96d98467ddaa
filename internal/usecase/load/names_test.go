package load

import (
	"strings"
	"testing"
)

// TestUnknownNodes wants the error to name the other name of a node whose form has a dash,
// if several forms could share the plain name.
func TestUnknownNodes(t *testing.T) {
	const none = "--node: there is no node acme-eu-web (a node is an active row and a form, named UID-FORM)"
	for forms, want := range map[string]string{
		"web":        none,
		"eu-web":     none, // the node has both names, or doesn't exist
		"eu-web web": none + "; row acme with form eu-web is called acme-eu-web-897520f7",
	} {
		t.Run(forms, func(t *testing.T) {
			if got := UnknownNodes([]string{"acme-eu-web"}, strings.Fields(forms)).Err.Error(); got != want {
				t.Errorf("%s: %s", forms, got)
			}
		})
	}
}
