package lynq

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// NeverManaged reports whether no node can have an object: by its name, it is a record of
// lynqctl, or by its group, an object of the Lynq operator.
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
