package watchcmd

import (
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observer receives the progress of Run with its hubs, in addition to Metrics.
// Implementations are quick, and safe for concurrent use.
type Observer interface {
	// Keeps gets all hubs that the watch keeps from now on.
	Keeps(hubs []Watched)
	// Ended gets the result of a round, or why the watch can't keep the hub for now. The
	// error is nil after a success.
	Ended(hub lynq.HubKey, err error)
	// Released says that the watch gave the hub's Lease back, or why it couldn't.
	Released(hub lynq.HubKey, err error)
}

// Watched is a hub of a watch.
type Watched struct {
	lynq.HubKey
	SyncInterval time.Duration
}

func watchedHubs(hubs []load.HubPrograms) []Watched {
	all := make([]Watched, len(hubs))
	for i, h := range hubs {
		all[i] = Watched{h.Key, h.Hub.SyncInterval}
	}
	return all
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

func (noObserver) Keeps([]Watched)          {}
func (noObserver) Ended(lynq.HubKey, error) {}

func (noObserver) Released(lynq.HubKey, error) {}
