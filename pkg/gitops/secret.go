package gitops

import "github.com/lynqctl/lynqctl/pkg/form"

// PlainSecret tells whether a resource is a Secret that has values.
func PlainSecret(r *form.Resource) bool {
	if r.Kind != "Secret" || r.APIVersion != "v1" {
		return false
	}
	for _, field := range []string{"data", "stringData"} {
		if v := r.Manifest.Field(field); v != nil && len(v.Fields) > 0 {
			return true
		}
	}
	return false
}
