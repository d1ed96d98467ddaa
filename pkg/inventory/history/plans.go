package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// maxPlans is the largest number of plans in a record.
const maxPlans = 500

const keyPlans = "plans"

// Plans are the plans that apply carried out for a hub. Their record outlives the hub's
// other records: if somebody deletes a hub, the objects that a plan created are missing
// again, and only this record shows that the plan ran.
type Plans struct {
	// UID identifies the record, "" for a new one.
	UID string `json:"-"`
	// Began counts all plans that began. Each gets the next number.
	Began int `json:"began"`
	// Forgotten is the number of the newest plan that is no longer in Runs, or 0.
	Forgotten int       `json:"forgotten,omitempty"`
	Runs      []PlanRun `json:"runs"`
}

// PlanRun is a plan that began, and ended well if Ended is set.
type PlanRun struct {
	ID     string    `json:"id"`
	Number int       `json:"number"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"`
}

// PlansName returns the name of the ConfigMap with the plans that ran on a hub.
func PlansName(hub string) string { return wellknown.PlansPrefix + hub }

// NewPlans returns the ConfigMap of a hub on which no plan ran.
func NewPlans(hub lynq.HubKey) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: PlansName(hub.Name), Namespace: hub.Namespace,
			Labels: map[string]string{wellknown.LabelRecord: wellknown.RecordPlans, wellknown.LabelHub: hub.Name, wellknown.LabelManagedBy: wellknown.ManagedBy},
		},
		Data: map[string]string{keyFormat: strconv.Itoa(format)},
	}
}

// PlansOf reads the plans in a ConfigMap.
func PlansOf(cm *corev1.ConfigMap) (*Plans, error) {
	p, err := plansOf(cm)
	if newer := (*newerError)(nil); err != nil && !errors.As(err, &newer) {
		return nil, fmt.Errorf("ConfigMap %s/%s, which has the plans that ran: %w (delete it, and make a new plan)", cm.Namespace, cm.Name, err)
	} else if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s, which has the plans that ran: %w (use that lynqctl)", cm.Namespace, cm.Name, err)
	}
	return p, nil
}

func plansOf(cm *corev1.ConfigMap) (*Plans, error) {
	if cm.Name != PlansName(cm.Labels[wellknown.LabelHub]) || cm.Labels[wellknown.LabelRecord] != wellknown.RecordPlans {
		return nil, errors.New("its labels aren't those of lynqctl's record")
	}
	switch n, err := strconv.Atoi(cm.Data[keyFormat]); {
	case err != nil:
		return nil, fmt.Errorf("data.format: %q is no format", cm.Data[keyFormat])
	case n != format:
		return nil, &newerError{n}
	}
	p := &Plans{UID: string(cm.UID)}
	if text := cm.Data[keyPlans]; text != "" {
		if err := json.Unmarshal([]byte(text), p); err != nil {
			return nil, fmt.Errorf("data.plans: %w", err)
		}
	}
	return p, nil
}

// In returns the ConfigMap with these plans, and keeps the fields of other clients.
func (p *Plans) In(cm *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	next := cm.DeepCopy()
	next.ManagedFields = nil
	next.Data[keyPlans] = string(text)
	return next, nil
}

// Find returns the run of a plan, or nil.
func (p *Plans) Find(id string) *PlanRun {
	if i := slices.IndexFunc(p.Runs, func(r PlanRun) bool { return r.ID == id }); i >= 0 {
		return &p.Runs[i]
	}
	return nil
}

// Begin notes that a plan begins. It reports whether it changed the record. A plan that
// began before and didn't end keeps its number.
func (p *Plans) Begin(id string, now time.Time) bool {
	if p.Find(id) != nil {
		return false
	}
	p.Began++
	p.Runs = append(p.Runs, PlanRun{ID: id, Number: p.Began, Began: now})
	if over := len(p.Runs) - maxPlans; over > 0 {
		p.Forgotten = p.Runs[over-1].Number
		p.Runs = slices.Delete(p.Runs, 0, over)
	}
	return true
}

// End notes that a plan ended well. It reports whether it changed the record.
func (p *Plans) End(id string, now time.Time) bool {
	began := p.Begin(id, now)
	r := p.Find(id)
	if !r.Ended.IsZero() {
		return began
	}
	r.Ended = now
	return true
}
