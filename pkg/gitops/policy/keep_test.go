package policy

import "testing"

// TestRetainOptions checks that the options for an excluded object replace those of the
// form, because the first option with a name counts.
func TestRetainOptions(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                                    "Prune=false,Delete=false",
		"ServerSideApply=true":                "ServerSideApply=true,Prune=false,Delete=false",
		"Prune=confirm, ServerSideApply=true": "ServerSideApply=true,Prune=false,Delete=false",
		"Delete=confirm,Prune=true,":          "Prune=false,Delete=false",
		"Prune=false,Delete=false":            "Prune=false,Delete=false",
		"PruneLast=true,Prune=false":          "PruneLast=true,Prune=false,Delete=false",
	} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()

			if got := withOptions(list, "Prune=false", "Delete=false"); got != want {
				t.Errorf("%q becomes %q, want %q", list, got, want)
			}
		})
	}
}
