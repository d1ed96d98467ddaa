package watch

import (
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observer is told how Watch gets on with its hubs, beside what Metrics is told. It
// is safe for concurrent use, and quick.
type Observer interface {
	// Kept tells which hubs are kept from now on, and no others.
	Kept(hubs []lynq.HubKey)
	// Ended tells how a round with a hub ended, or that the hub cannot be kept for now:
	// nil where all went well.
	Ended(hub lynq.HubKey, err error)
}

// observer is who is told, one that keeps nothing where there is none.
func (o *Options) observer() Observer {
	if o.Observer == nil {
		return noObserver{}
	}
	return o.Observer
}

// noObserver is told everything, and keeps nothing.
type noObserver struct{}

func (noObserver) Kept([]lynq.HubKey)       {}
func (noObserver) Ended(lynq.HubKey, error) {}
