package orphan

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/trust"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Inventories reads the inventories of one namespace or, with "", of all, and the
// records of hubs. With a *inventory.BrokenError come those that can be read.
// *store.Store has it.
type Inventories interface {
	AllNodes(ctx context.Context, namespace string) ([]*inventory.Inventory, error)
	Hubs(ctx context.Context, namespace string) ([]*inventory.Hub, error)
}

// Query says what to look for.
type Query struct {
	// Namespace is where orphans are; "" is everywhere. Objects without a
	// namespace are found only there.
	Namespace string
	// Selector is a label selector, "" for all.
	Selector string
	Filter
	Now time.Time
	// Stranded, where it is not nil, has what is stranded be found too.
	// Records have no labels: with a Selector none is among that.
	Stranded Inventories
	// AtOnce is how many requests are sent at a time; 0 is DefaultAtOnce.
	AtOnce int
	// Progress, where it is not nil, is told how many of the lists have come, of how
	// many. It may be called from several goroutines.
	Progress func(done, of int)
}

// DefaultAtOnce limits the requests that Find sends at a time, unless a Query says
// otherwise.
const DefaultAtOnce = 32

// Found lists the orphans that Find found.
type Found struct {
	// Orphans are sorted by namespace, kind and name.
	Orphans []Orphan
	// Unreadable is what could not be read, so that more orphans may be there.
	Unreadable []Unreadable
	// Broken are inventories that cannot be read: nothing of their nodes was
	// taken for stranded.
	Broken []*inventory.UnreadableError
	// Ignored are inventories that do not count: those outside of the namespaces
	// which the records of their hubs name. What has the tracking of their nodes
	// is not taken for stranded either.
	Ignored trust.Ignored
}

// Find looks for orphans. An error means that nothing is known.
func Find(ctx context.Context, c observe.Reader, q Query) (*Found, error) {
	s := &search{Reader: c, query: q, atOnce: q.AtOnce}
	if s.atOnce <= 0 {
		s.atOnce = DefaultAtOnce
	}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	marked, tracked, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	found := &Found{}
	for _, o := range distinct(marked) {
		found.Orphans = append(found.Orphans, o.orphan())
	}
	if q.Stranded != nil {
		if err := s.strand(ctx, tracked, found); err != nil {
			return nil, err
		}
	}
	found.Orphans = slices.DeleteFunc(found.Orphans, func(o Orphan) bool { return !q.Matches(&o, q.Now) })
	if err := s.storage(ctx, found.Orphans); err != nil {
		return nil, err
	}
	sortOrphans(found.Orphans)
	found.Unreadable = s.unreadable.sorted()
	return found, nil
}

// search is one run of Find.
type search struct {
	observe.Reader
	query      Query
	atOnce     int // requests
	kinds      []lynq.APIResource
	unreadable unreadables
}

// discover finds the kinds that are to be listed.
func (s *search) discover(ctx context.Context) error {
	kinds, err := s.Listable(ctx)
	if err != nil && len(kinds) == 0 {
		return err
	}
	if err != nil {
		s.unreadable.add(Unreadable{Verb: verbDiscover, Err: err})
	}
	s.kinds = slices.DeleteFunc(slices.Clone(kinds), func(r lynq.APIResource) bool {
		return s.query.Namespace != "" && !r.Namespaced
	})
	return nil
}

// The labels of orphans, and those of what inventories should name. What render
// writes and other tools apply has no part-of; records are no objects of nodes.
const (
	markedSelector  = wellknown.LabelOrphaned + "=true"
	trackedSelector = wellknown.LabelHub + "," + wellknown.LabelPartOf + ",!" + wellknown.LabelRecord
)

// list lists all kinds: what is marked and, where that is asked for, what is
// tracked.
func (s *search) list(ctx context.Context) (marked, tracked []seen, err error) {
	selectors := []string{markedSelector}
	if s.query.Stranded != nil {
		selectors = append(selectors, trackedSelector)
	}
	lists, err := s.listEach(ctx, selectors)
	if err != nil {
		return nil, nil, err
	}
	n := len(s.kinds)
	return slices.Concat(lists[:n]...), slices.Concat(lists[n:]...), nil
}

// listEach lists all kinds with each of the selectors, one after the other.
func (s *search) listEach(ctx context.Context, selectors []string) ([][]seen, error) {
	lists := make([][]seen, len(selectors)*len(s.kinds))
	var done atomic.Int64
	err := s.parallel(ctx, len(lists), func(ctx context.Context, i int) error {
		defer func() {
			if n := done.Add(1); s.query.Progress != nil {
				s.query.Progress(int(n), len(lists))
			}
		}()
		kind, selector := &s.kinds[i%len(s.kinds)], selectors[i/len(s.kinds)]
		if s.query.Selector != "" {
			selector += "," + s.query.Selector
		}
		err := s.List(ctx, *kind, s.query.Namespace, selector, func(m *metav1.PartialObjectMetadata) {
			lists[i] = append(lists[i], seeing(kind, m))
		})
		return s.unreadable.tolerate(kind, verbList, err)
	})
	return lists, err
}
