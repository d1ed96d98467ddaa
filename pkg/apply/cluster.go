package apply

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

// Cluster is what apply needs of a Kubernetes API: what is read of it, with the errors
// that observe.Reader tells of, and what changes it. It is safe for concurrent use.
type Cluster interface {
	observe.Reader
	wait.Watcher
	write.Cluster
	write.Deleter
	// Refresh asks the server again which kinds it serves.
	Refresh(ctx context.Context) error
}
