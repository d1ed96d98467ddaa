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

// These reasons are never written to objects. Find infers them.
const (
	// ReasonStranded: the object is tracked, but no inventory lists it.
	ReasonStranded = "Stranded"
	// ReasonGone: an inventory lists the object, but the object doesn't exist.
	ReasonGone = "ObjectGone"
)

// Marked returns the reasons that lynqctl writes to orphans.
func Marked() []string {
	return []string{wellknown.ReasonRemovedFromTemplate, wellknown.ReasonNodeDeleted}
}

// Stranding returns the reasons that Find infers.
func Stranding() []string { return []string{ReasonStranded, ReasonGone} }

// Orphan is an object that a node left behind. With ReasonGone, it is an inventory entry
// whose object is gone.
type Orphan struct {
	lynq.Ref
	// Resource is the API resource through which Find saw the object.
	Resource lynq.APIResource
	UID      types.UID
	// Live is the object's metadata. It is nil with ReasonGone.
	Live *tracking.Live

	Reason string    // empty if unknown
	Since  time.Time // zero if unknown
	From   Origin

	// Deletion and Creation are the policies of the node's form. They are empty if
	// unknown.
	Deletion lynq.DeletionPolicy
	Creation lynq.CreationPolicy
	// Size is the storage of a volume or a volume claim, such as "10Gi". It is empty for
	// other kinds.
	Size string
	// TakesClaims is set if Kubernetes deletes volume claims with the object, or if
	// lynqctl couldn't check this.
	TakesClaims bool
	// IsNamespace is set if the object is a Namespace that an extension shows as its own
	// kind, or if lynqctl couldn't check this.
	IsNamespace bool
}

// HoldsData reports whether deleting the object loses data.
func (o *Orphan) HoldsData() bool { return o.marked() || o.Ref.HoldsData() }

// marked reports whether deleting the object loses data, although its kind doesn't show
// this.
func (o *Orphan) marked() bool { return o.TakesClaims || o.IsNamespace || o.Live != nil && o.Live.Data }

// Origin names the node that an orphan came from, and its resource id there. Unknown parts
// are empty. Objects name neither the hub's namespace nor the form and row.
type Origin struct {
	lynq.NodeID
	ID string
}

// originOf returns the origin of an object whose hub is known by name only.
func originOf(hub string, node lynq.NodeKey, id string) Origin {
	return Origin{lynq.NodeID{Hub: lynq.HubKey{Name: hub}, Namespace: node.Namespace, Name: node.Name}, id}
}

// seen is one object of a list.
type seen struct {
	resource    *lynq.APIResource
	live        tracking.Live
	annotations markers
	// owner is the node whose inventory owns the object, or "".
	owner string
	// annotated is set if any annotation is from lynqctl.
	annotated bool
}

// markers are the annotations of an orphan.
type markers struct{ at, reason, from string }

// seeing keeps the needed parts of an object's metadata.
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

// orphan reads the orphan from the object's markers.
func (s *seen) orphan() Orphan {
	o := s.described(s.annotations.reason, s.origin())
	if at, err := time.Parse(time.RFC3339, s.annotations.at); err == nil {
		o.Since = at
	}
	return o
}

// described returns the object as an orphan with this reason.
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

// origin returns the node that an object came from. The operator marks orphans without
// their origin. So origin falls back to the labels.
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

// distinct keeps each object once, because a server may serve an object in several groups.
// It also drops objects that only reflect others:
//
//   - Objects without a uid, such as metrics, show other objects.
//   - Controllers copy labels, for example from a Service to its Endpoints. An object
//     whose owner is in the list too follows its owner.
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
