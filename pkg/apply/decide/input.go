package decide

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Input is the complete input for the plan of one hub.
type Input struct {
	// Hub is the hub of the plan. lynqctl leaves nodes of other hubs with the same name
	// alone.
	Hub      lynq.HubKey
	Desired  Desired
	Recorded Recorded
	Observed plan.Observed
	Scope    Scope
	Options  Options
	// Beside has what other names of deleted objects led to, see OtherNames. It is nil before
	// the run has read these.
	Beside *plan.Observed
	// Now is the time of the plan.
	Now time.Time
}

// Desired holds what rows and forms say.
type Desired struct {
	// Nodes are the nodes of active rows, in the order in which to run them. A narrowed run
	// has only the selected ones.
	Nodes []*plan.Node
	// Active is the number of active rows of the hub, even in a narrowed run.
	Active int
	// Elsewhere knows the objects of other rows, forms and hubs in the files. It is nil if
	// Nodes are all of them, or without files.
	Elsewhere *Survey
	// Renames are the nodes that had another name before, or nil, see Rename.
	Renames *lynq.Renames
	// Evidence describes how the rows differ from those of the last run, or is nil. Used
	// are the columns that forms use.
	Evidence *evidence.Evidence
	Used     []string
	// Forms are the forms of the run. lynqctl leaves nodes of other forms alone.
	Forms []lynq.FormKey
	// Hooks are the deletion hooks of forms. For a form outside the list, only records
	// describe its hooks, and these permit little.
	Hooks []FormHooks
	// Grace are the grace periods of forms. Other forms have none, and a run has none if the
	// user named the nodes to delete.
	Grace map[lynq.FormKey]time.Duration
	// Exclude has the exclusion rules by form. It is nil if they aren't known, and then the
	// recorded exclusions count.
	Exclude map[lynq.FormKey]lynq.Exclusions
	// NamespaceDefaults are the objects that every namespace has by itself, according to
	// the hub.
	NamespaceDefaults []lynq.NamespaceDefault
}

// Recorded holds what earlier runs left in inventories and in the hub record.
type Recorded struct {
	// Inventories are all readable inventories of the hub, and Broken has the errors of the
	// others. lynqctl leaves the node of a broken one alone.
	Inventories []*inventory.Inventory
	Broken      map[lynq.NodeKey]error
	// Taken are the inventories of other hubs with the name of a desired node.
	Taken map[lynq.NodeKey]*inventory.Inventory
	// OperatorNodes is the number of the hub's LynqNode resources in each namespace that
	// counts.
	OperatorNodes map[string]int
	// HubDeleting is set if somebody deleted the hub record and its finalizer blocks that.
	HubDeleting bool
	// Deletions are a watch's recent deletions, from the hub record.
	Deletions []inventory.Deletions
	// Leaving are the nodes in their grace period, from the hub record.
	Leaving []inventory.Leaving
	// LastRun is when the last run read the rows, or zero.
	LastRun time.Time
	// Tree is set if the recorded nodes are those of a Git tree.
	Tree bool
}

// Options hold what the user asked for, beside the desired state.
type Options struct {
	// Cascade says how to delete the objects of deleted nodes.
	Cascade plan.Cascade
	// GiveUp names recorded objects with a cleanup that lynqctl no longer tries. The value
	// is the error if lynqctl couldn't read the object.
	GiveUp map[lynq.Ref]error
	// KeepContent makes the run track objects that it takes back without changing their
	// content.
	KeepContent bool
	// AdoptNothing makes the run leave alone every object that doesn't belong to the hub,
	// whatever the forms say. AdoptOrphans makes it adopt orphans, whatever the forms say.
	AdoptNothing, AdoptOrphans bool
	// IncludeData lets patchStrategy recreate delete objects with data too.
	IncludeData bool
}

// Found updates the input with objects that the server was asked about.
func (in *Input) Found(objects []*tracking.Live) {
	for _, l := range objects {
		in.Observed.Live[l.Ref] = l
	}
}
