package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nextHooks returns the entries of the form's hooks. It keeps the state of hooks with a
// live object.
func (n *Node) nextHooks(recorded []inventory.Entry) []inventory.Entry {
	var next []inventory.Entry
	for i := range n.Hooks {
		r := NewEntry(&n.Hooks[i])
		r.Digest = n.Hooks[i].Digest
		if old, known := inventory.Find(recorded, r.Ref); known {
			r.UID, r.Phase = old.UID, old.Phase
		}
		next = append(next, r)
	}
	return next
}

// Begins returns the entry of a hook just before lynqctl creates it.
func (s *Step) Begins() inventory.Entry {
	r := *s.Entry
	r.UID, r.Phase = "", inventory.PhaseRunning
	return r
}

// maxHooks is half the size limit of a Secret. While hooks change, the Secret has the old
// ones too.
const maxHooks = 512 << 10

// checkHooks refuses hooks that don't fit into a Secret.
func (n *Node) checkHooks() error {
	size := 0
	for i := range n.Hooks {
		manifest, err := n.Hooks[i].HookManifest()
		if err != nil {
			return err
		}
		size += len(manifest)
	}
	if size <= maxHooks {
		return nil
	}
	return fmt.Errorf("node %s: its resources with runOn: Delete take %d KiB, the limit is %d KiB (put large content in a ConfigMap, and mount it)", n.Key(), (size+1023)>>10, maxHooks>>10)
}

// HookManifest is the stored form of a hook.
type HookManifest struct {
	ID             string          `json:"id"`
	APIVersion     string          `json:"apiVersion"`
	DependIDs      []string        `json:"dependIds,omitempty"`
	TimeoutSeconds int             `json:"timeoutSeconds"`
	Manifest       json.RawMessage `json:"manifest"`
}

// HookManifest encodes the parts of a hook that its entry lacks.
func (o *Object) HookManifest() ([]byte, error) {
	return json.Marshal(HookManifest{o.ID, o.APIVersion, o.DependIDs, int(o.Policy.Timeout / time.Second), json.RawMessage(o.Body)})
}

// complete notes in the next entry that the object's work is done. The uid is dropped with
// the object.
func (s *Step) complete(next *inventory.Entry) {
	next.Phase, next.Digest, next.Template, next.Ready = inventory.PhaseCompleted, s.Entry.Digest, s.Entry.Template, true
	if s.Live == nil || string(s.Live.UID) != s.Entry.UID {
		next.UID, next.Generation, next.ResourceVersion, next.Fields = "", 0, "", ""
	}
}

// CheckSizes finds the nodes with an inventory that wouldn't fit into a ConfigMap. Then
// nothing may change, because lynqctl must not create objects that it can't record.
func CheckSizes(plans []Plan) error {
	var errs []error
	for k := range plans {
		p := &plans[k]
		for i := range p.Nodes {
			if n := p.Nodes[i].Desired; n != nil {
				errs = append(errs, n.checkHooks())
			}
			if p.Nodes[i].Desired == nil || len(p.Nodes[i].Steps) < fewObjects {
				continue
			}
			if _, err := inventory.Encode(p.Nodes[i].largestInventory()); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// largestInventory returns the largest inventory that a run can write for a node.
func (p *NodePlan) largestInventory() *inventory.Inventory {
	next := p.NextInventory(p.Inventory, false)
	next.Entries = nil
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Object != nil {
			r := s.NextEntry()
			r.UID, r.Digest, r.Template, r.Fields, r.ResourceVersion = longest, longest, longest, longest, longest
			if !s.Applies() {
				r.Defaults = strings.Repeat("0", tracking.LongestDefaults)
			}
			if s.Object.Policy.ReapplyInterval > 0 {
				r.Written = time.Unix(0, 0).UTC()
			}
			next.Entries = append(next.Entries, r)
		} else if s.Entry != nil {
			next.Entries = append(next.Entries, *s.Entry)
		}
	}
	return next
}

// NextInventory returns the next inventory of a node from its row and form, with the
// entries of now. now may be nil. With finalizer it gets the node's finalizer.
func (p *NodePlan) NextInventory(now *inventory.Inventory, finalizer bool) *inventory.Inventory {
	next := &inventory.Inventory{}
	if now != nil {
		next = now.Clone()
	}
	p.renew(next, finalizer)
	return next
}

// Renews reports whether the data of row and form change an inventory.
func (p *NodePlan) Renews(now *inventory.Inventory, finalizer bool) bool {
	next := *now // shares the entries, which stay as they are
	p.renew(&next, finalizer)
	return !inventory.Equal(now, &next)
}

// renew sets the data of row and form, and changes no entry.
func (p *NodePlan) renew(next *inventory.Inventory, finalizer bool) {
	next.Finalizer = next.Finalizer || finalizer
	d := p.Desired
	next.Node, next.Activate = p.NodeID, "true"
	next.TemplateGeneration, next.Extra, next.DependForms = d.TemplateGeneration, d.Extra, d.DependForms
	next.Expires, next.LeavingSince, next.LeavingUntil = d.Expires, time.Time{}, time.Time{}
	if !d.HooksLeftOut {
		next.Hooks = d.nextHooks(next.Hooks)
	}
}

const (
	// fewObjects always fit into an inventory, however long their names.
	fewObjects = 500
	// longest stands for values that only the cluster will provide.
	longest = "00000000-0000-0000-0000-000000000000"
)

// NextEntry returns the next entry of a desired object, with the values that earlier runs
// recorded.
func (s *Step) NextEntry() inventory.Entry {
	r := NewEntry(s.Object)
	r.Adopted = s.Adopted
	if s.Entry != nil && s.Entry.Hook() {
		r.Phase = s.Entry.Phase
	}
	r.Sensitive = r.Sensitive || s.Entry != nil && s.Entry.Sensitive
	if old := s.Entry; old != nil && (s.Live == nil || old.UID == string(s.Live.UID)) {
		r.UID, r.Digest, r.Template, r.Generation, r.ResourceVersion, r.Fields, r.Defaults, r.Ready, r.Ended =
			old.UID, old.Digest, old.Template, old.Generation, old.ResourceVersion, old.Fields, old.Defaults, old.Ready, old.Ended
		if s.Object.Policy.ReapplyInterval > 0 {
			r.Written = old.Written
		}
	}
	if s.Reason == ReasonCompleted {
		s.complete(&r)
	}
	return r
}

// NewEntry returns the entry of an object that no run has written.
func NewEntry(o *Object) inventory.Entry {
	return inventory.Entry{Ref: o.Ref, ID: o.ID, APIVersion: o.APIVersion, Order: o.Order, Lifecycle: o.Policy.Lifecycle, Sensitive: o.Sensitive}
}

// Moved returns the entry of an object after lynqctl changed only its metadata, from then
// to now. An object without drift then still has none.
func Moved(r inventory.Entry, then, now *tracking.Live) inventory.Entry {
	o := &Object{Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: r.Patch}}}
	if r.UID == "" || r.UID != string(then.UID) || now.UID != then.UID || MayHaveDrifted(o, &r, then) {
		return r
	}
	r.ResourceVersion = now.ResourceVersion
	if !r.Ready || r.Generation == then.Generation { // else no run saw this generation ready
		r.Generation = now.Generation
	}
	if o.Applied(r.Adopted) {
		r.Fields = now.Fields
	}
	return r
}
