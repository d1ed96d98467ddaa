package orphan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
)

// Tracking lists the objects that have the tracking of nodes.
type Tracking struct {
	Live []*tracking.Live
	// Unreadable is what could not be read, so that more may be there.
	Unreadable []Unreadable
}

// Tracked looks for all that has the tracking of nodes, with one list per kind.
// An error means that nothing is known.
func Tracked(ctx context.Context, c observe.Reader) (*Tracking, error) {
	s := &search{Reader: c, atOnce: DefaultAtOnce}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	lists, err := s.listEach(ctx, []string{trackedSelector})
	if err != nil {
		return nil, err
	}
	// A kind that went since the server was asked for its kinds has no objects.
	t := &Tracking{Unreadable: slices.DeleteFunc(s.unreadable.sorted(), func(u Unreadable) bool { return meta.IsNoMatchError(u.Err) })}
	objects := distinct(slices.Concat(lists...))
	for i := range objects {
		t.Live = append(t.Live, &objects[i].live)
	}
	return t, nil
}

// Warnings say what may be missing, each in a line.
func (t *Tracking) Warnings() []string {
	var lines []string
	for i := range t.Unreadable {
		if u := &t.Unreadable[i]; u.Verb == verbDiscover {
			lines = append(lines, "some kinds are unknown, and objects of them may lack an inventory: "+u.Err.Error())
		}
	}
	f := Found{Unreadable: t.Unreadable}
	return append(lines, f.unread(verbList, "can't be listed, and objects of them may lack an inventory")...)
}
