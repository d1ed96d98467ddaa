package apply

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

// Cluster reads and changes a Kubernetes API for apply. Reads return the errors that
// observe.Reader lists. It is safe for concurrent use.
type Cluster interface {
	observe.Reader
	wait.Watcher
	write.Cluster
	write.Deleter
	// Refresh asks the server again which kinds it serves.
	Refresh(ctx context.Context) error
}
