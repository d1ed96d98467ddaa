package policy

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Losses collects the losses of objects that only rows tell. Several goroutines may add to it.
type Losses struct {
	mu   sync.Mutex
	seen map[Loss]bool
}

// AddCharts adds the losses of a form's objects of charts, each once.
func (l *Losses) AddCharts(f *form.Form, losses []Loss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[Loss]bool{}
	}
	for _, loss := range losses {
		if r := f.Resource(loss.Resource); r != nil && r.Chart != nil {
			l.seen[loss] = true
		}
	}
}

// All returns the losses in the order of forms, resources and policies.
func (l *Losses) All() []Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Loss, 0, len(l.seen))
	for loss := range l.seen {
		all = append(all, loss)
	}
	slices.SortFunc(all, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.Form, b.Form), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Instead, b.Instead))
	})
	return all
}
