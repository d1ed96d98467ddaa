package orphan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Reasons of what has no markers: they are found, not written.
const (
	// ReasonStranded: the object has our tracking, and no inventory names it.
	ReasonStranded = "Stranded"
	// ReasonGone: an inventory names the object, and there is none.
	ReasonGone = "ObjectGone"
)

// Marked are the reasons that objects are marked with, and Stranding those that
// are found otherwise.
func Marked() []string {
	return []string{wellknown.ReasonRemovedFromTemplate, wellknown.ReasonNodeDeleted}
}

// Stranding are the reasons of what is stranded.
func Stranding() []string { return []string{ReasonStranded, ReasonGone} }

// Orphan is an object that was left behind, or, with ReasonGone, a record whose
// object is gone.
type Orphan struct {
	lynq.Ref
	// Resource is how the kind is served, and the object was seen.
	Resource lynq.APIResource
	UID      types.UID
	// Live is what there is of the object; nil with ReasonGone.
	Live *tracking.Live

	Reason string    // "" where that is unknown
	Since  time.Time // zero where that is unknown
	From   Origin

	// What its node's form said, "" where that is unknown.
	Deletion lynq.DeletionPolicy
	Creation lynq.CreationPolicy
	// Size is the storage that a volume or the claim for one has, such as
	// "10Gi"; "" for all else.
	Size string
	// TakesClaims tells that Kubernetes deletes volume claims with the object, or that
	// nobody could read whether it does.
	TakesClaims bool
}

// HoldsData tells whether data is lost when the object is deleted.
func (o *Orphan) HoldsData() bool { return o.marked() || o.Ref.HoldsData() }

// marked tells whether data is lost though the kind doesn't say so.
func (o *Orphan) marked() bool { return o.TakesClaims || o.Live != nil && o.Live.Data }

// Origin is the node that an orphan was of, and its resource id there. What is
// not known is "". Objects tell neither the namespace of the hub, nor form and row.
type Origin struct {
	lynq.NodeID
	ID string
}

// originOf is the origin of what names its hub as objects do.
func originOf(hub string, node lynq.NodeKey, id string) Origin {
	return Origin{lynq.NodeID{Hub: lynq.HubKey{Name: hub}, Namespace: node.Namespace, Name: node.Name}, id}
}

// seen is one object of a list.
type seen struct {
	resource    *lynq.APIResource
	live        tracking.Live
	annotations markers
	// owner is the node whose inventory owns the object, "" for none.
	owner string
	// annotated: some annotation is ours.
	annotated bool
}

// markers are the annotations of an orphan.
type markers struct{ at, reason, from string }

// seeing takes from an object's metadata what is kept of it.
func seeing(r *lynq.APIResource, m *metav1.PartialObjectMetadata) seen {
	ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
	s := seen{
		resource: r, live: tracking.LiveOf(ref, m),
		annotations: markers{
			at:     m.Annotations[wellknown.AnnotationOrphanedAt],
			reason: m.Annotations[wellknown.AnnotationOrphanedReason],
			from:   m.Annotations[wellknown.AnnotationOrphanedFrom],
		},
	}
	for key := range m.Annotations {
		s.annotated = s.annotated || strings.HasPrefix(key, wellknown.KeyPrefix)
	}
	for i := range m.OwnerReferences {
		o := &m.OwnerReferences[i]
		if node, is := wellknown.OwnerNode(o.APIVersion, o.Kind, o.Name); is {
			s.owner = node
		}
	}
	return s
}

// orphan is what an object's markers say of it.
func (s *seen) orphan() Orphan {
	o := s.described(s.annotations.reason, s.origin())
	if at, err := time.Parse(time.RFC3339, s.annotations.at); err == nil {
		o.Since = at
	}
	return o
}

// described is an orphan for a reason.
func (s *seen) described(reason string, from Origin) Orphan {
	o := Orphan{
		Ref: s.live.Ref, Resource: *s.resource, UID: s.live.UID, Live: &s.live,
		Reason: reason, From: from, Deletion: s.live.DeletionPolicy,
	}
	if s.live.CreatedOnce {
		o.Creation = lynq.CreateOnce
	}
	return o
}

// origin is where an object says that it is from. The operator marks orphans
// without saying so, and leaves labels on them that may.
func (s *seen) origin() Origin {
	const parts = 4
	if p := strings.SplitN(s.annotations.from, "/", parts); len(p) == parts {
		return originOf(p[0], lynq.NodeKey{Namespace: p[1], Name: p[2]}, p[3])
	}
	return originOf(s.live.Hub, s.live.Labelled(), s.live.ResourceID)
}

// sortOrphans sorts by namespace, kind and name.
func sortOrphans(all []Orphan) {
	slices.SortFunc(all, func(a, b Orphan) int {
		return cmp.Or(
			strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.GroupKind(), b.GroupKind()),
			strings.Compare(a.Name, b.Name),
			strings.Compare(string(a.UID), string(b.UID)),
		)
	})
}

// distinct leaves out what is listed twice, for a server may serve an object in
// several groups, and what is no object of its own:
//
//   - what has no uid shows other objects, as metrics do
//   - controllers copy labels from a Service to its Endpoints and their slices,
//     and the like elsewhere; what belongs to an object that is listed too goes
//     where that goes
func distinct(all []seen) []seen {
	uids := map[types.UID]bool{}
	services := map[types.NamespacedName]bool{}
	for i := range all {
		l := &all[i].live
		uids[l.UID] = true
		if l.Group == "" && l.Kind == "Service" {
			services[types.NamespacedName{Namespace: l.Namespace, Name: l.Name}] = true
		}
	}
	told := map[types.UID]bool{}
	var kept []seen
	for i := range all {
		s := &all[i]
		l := &s.live
		endpoints := l.Group == "" && l.Kind == "Endpoints" && !s.annotated &&
			services[types.NamespacedName{Namespace: l.Namespace, Name: l.Name}]
		belongs := slices.ContainsFunc(l.Owners, func(uid types.UID) bool { return uids[uid] })
		if l.UID == "" || told[l.UID] || endpoints || belongs {
			continue
		}
		told[l.UID] = true
		kept = append(kept, *s)
	}
	return kept
}
