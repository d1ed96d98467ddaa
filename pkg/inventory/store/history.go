package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// historyTries limits the attempts to write an entry if other clients write too.
const historyTries = 5

// AddToHistory adds a run to a hub's history, and returns the written ConfigMap. known is
// the ConfigMap that this run last saved, or nil. begins reports whether to create a
// missing history. Without a history, it returns nil.
//
// If another run writes the history meanwhile, it adds the entry to that version. After a
// lost answer, it recognizes its own entry.
func (s *Store) AddToHistory(ctx context.Context, hub lynq.HubKey, e *history.Entry, known *corev1.ConfigMap, begins func() (bool, error)) (*corev1.ConfigMap, error) {
	cm := known
	for try := 1; ; try++ {
		var err error
		if cm == nil {
			if cm, err = s.history(ctx, hub, begins); cm == nil || err != nil {
				return nil, err
			}
		}
		if history.Has(cm, e.Run) {
			return cm, nil
		}
		next, err := history.With(cm, e)
		if err != nil {
			return nil, err
		}
		write := s.configMaps.Update
		if next.UID == "" {
			write = s.configMaps.Create
		}
		saved, err := write(ctx, next)
		again := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || next.UID != "" && apierrors.IsNotFound(err)
		if !again || try == historyTries {
			return saved, s.explain(ctx, next, err, "delete it: the next run begins a new history")
		}
		cm = nil
	}
}

// history reads a history, or creates an empty one. It returns nil if there is none and
// begins returns false.
func (s *Store) history(ctx context.Context, hub lynq.HubKey, begins func() (bool, error)) (*corev1.ConfigMap, error) {
	cm, err := s.configMaps.Get(ctx, hub.Namespace, history.Name(hub.Name))
	if !apierrors.IsNotFound(err) {
		return cm, err
	}
	if some, err := begins(); !some || err != nil {
		return nil, err
	}
	return history.New(hub), nil
}

// RemoveHistory deletes the history of a hub whose record is deleted too. It keeps a
// ConfigMap without the labels of a history. A missing history is no error. If another run
// writes the history meanwhile, it reads that and decides again.
func (s *Store) RemoveHistory(ctx context.Context, h lynq.HubKey, permit func(types.UID) (decide.Permit, error)) error {
	for try := 1; ; try++ {
		err := s.tryRemoveHistory(ctx, h, permit)
		if apierrors.IsConflict(err) && try < historyTries {
			continue
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove the history of hub %s: %w", h, err)
		}
		return nil
	}
}

func (s *Store) tryRemoveHistory(ctx context.Context, h lynq.HubKey, permit func(types.UID) (decide.Permit, error)) error {
	cm, err := s.configMaps.Get(ctx, h.Namespace, history.Name(h.Name))
	switch {
	case err != nil:
		return err
	case cm.Labels[wellknown.LabelRecord] != wellknown.RecordHistory || cm.Labels[wellknown.LabelHub] != h.Name:
		return nil
	}
	may, err := permit(cm.UID)
	if err != nil {
		return err
	}
	return s.configMaps.Delete(ctx, may)
}

// History has the runs of a hub, newest first.
type History struct {
	Hub     lynq.HubKey
	Entries []*history.Entry
}

// Histories returns the histories of all hubs in one namespace, or in all with "". It
// sorts them by namespace and name. If unreadable is set, it has
// *history.UnreadableErrors, and the result has the other histories.
func (s *Store) Histories(ctx context.Context, namespace string) (all []History, unreadable error, err error) {
	var broken []error
	err = s.configMaps.List(ctx, namespace, wellknown.LabelRecord+"="+wellknown.RecordHistory, func(cm *corev1.ConfigMap) func() {
		hub, err := history.HubOf(cm)
		if err != nil {
			return func() { broken = append(broken, err) }
		}
		entries, err := history.Entries(cm)
		return func() {
			broken = append(broken, err)
			all = append(all, History{hub, entries})
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list the histories of hubs: %w", err)
	}
	slices.SortFunc(all, func(a, b History) int { return strings.Compare(a.Hub.String(), b.Hub.String()) })
	return all, errors.Join(broken...), nil
}

// planTries limits the attempts to note a plan if runs of other shards note theirs.
const planTries = 64

// Plans returns the plans that ran on a hub. Without a record, it returns an empty one.
func (s *Store) Plans(ctx context.Context, hub lynq.HubKey) (*history.Plans, error) {
	plans, _, err := s.plans(ctx, hub)
	return plans, err
}

func (s *Store) plans(ctx context.Context, hub lynq.HubKey) (*history.Plans, *corev1.ConfigMap, error) {
	cm, err := s.configMaps.Get(ctx, hub.Namespace, history.PlansName(hub.Name))
	switch {
	case apierrors.IsNotFound(err):
		return &history.Plans{}, history.NewPlans(hub), nil
	case err != nil:
		return nil, nil, fmt.Errorf("read which plans ran on hub %s: %w", hub, err)
	}
	plans, err := history.PlansOf(cm)
	return plans, cm, err
}

// NotePlan changes the record of the plans that ran on a hub. change reports whether it
// changed the plans. If another client writes the record meanwhile, NotePlan reads that and
// calls change again.
func (s *Store) NotePlan(ctx context.Context, hub lynq.HubKey, change func(*history.Plans) bool) error {
	for try := 1; ; try++ {
		plans, cm, err := s.plans(ctx, hub)
		if err != nil || !change(plans) {
			return err
		}
		next, err := plans.In(cm)
		if err != nil {
			return err
		}
		write := s.configMaps.Update
		if next.UID == "" {
			write = s.configMaps.Create
		}
		_, err = write(ctx, next)
		switch again := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || next.UID != "" && apierrors.IsNotFound(err); {
		case err == nil:
			return nil
		case !again || try == planTries:
			err = s.explain(ctx, next, err, "delete it, and make a new plan")
			return fmt.Errorf("note which plans ran on hub %s: %w", hub, err)
		}
	}
}
