package orphan

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Inventories reads the inventories and hub records of one namespace, or of all with "".
// If some are broken, it returns the others with a *inventory.BrokenError. *store.Store
// implements it.
type Inventories interface {
	AllNodes(ctx context.Context, namespace string) ([]*inventory.Inventory, error)
	Hubs(ctx context.Context, namespace string) ([]*inventory.Hub, error)
}

// Query says which orphans Find looks for.
type Query struct {
	// Namespace limits the search. With "", Find searches all namespaces, and objects
	// without a namespace.
	Namespace string
	// Within are the only namespaces in which the user has permissions, none for all. With
	// them, Find looks for no objects without a namespace.
	Within []string
	// Selector is a label selector. Empty selects every object.
	Selector string
	Filter
	Now time.Time
	// Stranded also finds stranded objects, unless it is nil. Inventory entries have no
	// labels, so a Selector excludes those whose object is gone.
	Stranded Inventories
	// AtOnce limits the requests that Find sends at a time. With 0, the limit is
	// DefaultAtOnce.
	AtOnce int
	// Progress, if not nil, gets the number of finished lists and of all lists. Several
	// goroutines may call it.
	Progress func(done, of int)
}

// DefaultAtOnce is the limit of parallel requests if a Query sets none.
const DefaultAtOnce = 32

// namespaces returns the namespaces that Find lists, "" for all.
func (q *Query) namespaces() []string {
	if q.Namespace != "" || len(q.Within) == 0 {
		return []string{q.Namespace}
	}
	return q.Within
}

// Found lists the orphans that Find found.
type Found struct {
	// Orphans are sorted by namespace, kind and name.
	Orphans []Orphan
	// Unreadable lists the reads that failed. More orphans may exist there.
	Unreadable []Unreadable
	// Broken are inventories that can't be read. Find reports no object of their nodes as
	// stranded.
	Broken []*inventory.UnreadableError
	// Ignored are inventories outside the namespaces that their hub's record names. Find
	// reports no object of their nodes as stranded either.
	Ignored inventory.Ignored
}

// Find looks for orphans. After an error, the result is unknown.
func Find(ctx context.Context, c observe.Refresher, q Query) (*Found, error) {
	s := &search{Refresher: c, query: q, atOnce: q.AtOnce}
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
	observe.Refresher
	query      Query
	atOnce     int // the limit of parallel requests
	kinds      []lynq.APIResource
	unreadable unreadables
}

// discover finds the kinds to list.
func (s *search) discover(ctx context.Context) error {
	kinds, err := s.Listable(ctx)
	if err != nil && len(kinds) == 0 {
		return err
	}
	if err != nil {
		s.unreadable.add(Unreadable{Verb: verbDiscover, Err: err})
	}
	s.kinds = slices.DeleteFunc(slices.Clone(kinds), func(r lynq.APIResource) bool {
		return s.query.namespaces()[0] != "" && !r.Namespaced
	})
	return nil
}

// The selectors find orphans and the objects that inventories should list. render writes
// no part-of label, so the second one skips objects that other tools apply. It also skips
// the inventories themselves.
const (
	markedSelector  = wellknown.LabelOrphaned + "=true"
	trackedSelector = wellknown.LabelHub + "," + wellknown.LabelPartOf + ",!" + wellknown.LabelRecord
)

// list lists all kinds. It returns the marked objects, and the tracked ones if the query
// asks for them.
func (s *search) list(ctx context.Context) (marked, tracked []seen, err error) {
	selectors := []string{markedSelector}
	if s.query.Stranded != nil {
		selectors = append(selectors, trackedSelector)
	}
	lists, err := s.listEach(ctx, selectors)
	if err != nil {
		return nil, nil, err
	}
	n := len(lists) / len(selectors)
	return slices.Concat(lists[:n]...), slices.Concat(lists[n:]...), nil
}

// listEach lists all kinds in each namespace, with one selector after the other.
func (s *search) listEach(ctx context.Context, selectors []string) ([][]seen, error) {
	ctx = write.Surveying(ctx)
	namespaces := s.query.namespaces()
	each := len(namespaces) * len(s.kinds)
	lists := make([][]seen, len(selectors)*each)
	var done atomic.Int64
	err := s.parallel(ctx, len(lists), func(ctx context.Context, i int) error {
		defer func() {
			if n := done.Add(1); s.query.Progress != nil {
				s.query.Progress(int(n), len(lists))
			}
		}()
		kind, namespace, selector := &s.kinds[i%len(s.kinds)], namespaces[i%each/len(s.kinds)], selectors[i/each]
		if s.query.Selector != "" {
			selector += "," + s.query.Selector
		}
		err := s.List(ctx, *kind, namespace, selector, func(m *metav1.PartialObjectMetadata) func() {
			object := seeing(kind, m)
			return func() { lists[i] = append(lists[i], object) }
		})
		return s.unreadable.tolerate(kind, verbList, err)
	})
	if err == nil {
		s.forgetVanished(ctx)
	}
	return lists, err
}

// forgetVanished drops kinds from the unlisted ones if their definitions disappeared since
// discovery: such a kind has no objects. A kind that the server still names stays unlisted.
func (s *search) forgetVanished(ctx context.Context) {
	unserved := func(u Unreadable) bool { return u.Verb == verbList && meta.IsNoMatchError(u.Err) }
	if !slices.ContainsFunc(s.unreadable.sorted(), unserved) || s.Refresh(ctx) != nil {
		return
	}
	s.unreadable.remove(func(u Unreadable) bool {
		_, err := s.Resource(ctx, u.Group, "", u.Kind)
		return unserved(u) && meta.IsNoMatchError(err)
	})
}
