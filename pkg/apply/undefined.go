package apply

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Undefined is nil where a kind that the server does not serve has no objects: it is
// not defined either. Else it says why no one knows which there are.
func Undefined(ctx context.Context, c Cluster, group, kind string) error {
	if lynq.BuiltIn(group) {
		return nil
	}
	o := observer{cluster: c}
	found, err := o.definitions(ctx, &wantedKind{group: group, kind: kind})
	switch {
	case err != nil:
		return fmt.Errorf("look whether kind %s.%s, which the server does not serve, is still defined: %w", kind, group, err)
	case found.definition != "":
		return &plan.UnservedError{Group: group, Kind: kind, Definition: found.definition}
	}
	return nil
}
