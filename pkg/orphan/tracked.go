package orphan

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
)

// Tracking lists the objects that nodes track.
type Tracking struct {
	Live []*tracking.Live
	// Unreadable lists the reads that failed. More tracked objects may exist there.
	Unreadable []Unreadable
}

// Tracked finds all tracked objects, with one list per kind. After an error, the result is
// unknown.
func Tracked(ctx context.Context, c observe.Refresher) (*Tracking, error) {
	s := &search{Refresher: c, atOnce: DefaultAtOnce}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	lists, err := s.listEach(ctx, []string{trackedSelector})
	if err != nil {
		return nil, err
	}
	t := &Tracking{Unreadable: s.unreadable.sorted()}
	objects := distinct(slices.Concat(lists...))
	for i := range objects {
		t.Live = append(t.Live, &objects[i].live)
	}
	return t, nil
}

// Warnings return one line for each gap in the result.
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
