package watch

import (
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observer receives the progress of Run with its hubs, in addition to Metrics.
// Implementations are quick, and safe for concurrent use.
type Observer interface {
	// Kept gets all hubs that the watch keeps from now on.
	Kept(hubs []lynq.HubKey)
	// Ended gets the result of a round, or why the watch can't keep the hub for now. The
	// error is nil after a success.
	Ended(hub lynq.HubKey, err error)
}

// observer returns the Observer, or one that ignores everything.
func (o *Options) observer() Observer {
	if o.Observer == nil {
		return noObserver{}
	}
	return o.Observer
}

// noObserver ignores everything.
type noObserver struct{}

func (noObserver) Kept([]lynq.HubKey)       {}
func (noObserver) Ended(lynq.HubKey, error) {}
