package lynq

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// NeverManaged tells whether a reference is to what is never an object of a node:
// by its name a record of lynqctl's, or by its group the Lynq operator's own.
func (r Ref) NeverManaged() bool {
	if r.Group == wellknown.Group {
		return true
	}
	for _, prefix := range wellknown.ReservedNames(r.Group, r.Kind) {
		if strings.HasPrefix(r.Name, prefix) {
			return true
		}
	}
	return false
}
