package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// LiveOf takes from an object's metadata what is kept of it. The metadata itself
// is not kept.
func LiveOf(ref lynq.Ref, m *metav1.PartialObjectMetadata) Live { return liveOf(ref, m) }

// LiveOfObject is LiveOf for a whole object.
func LiveOfObject(ref lynq.Ref, o *unstructured.Unstructured) (*Live, error) {
	m, err := metadataOf(o)
	if err != nil {
		return nil, err
	}
	l := liveOf(ref, m)
	return &l, nil
}

// NoOrphan tells why an object does not count as an orphan, "" where it does:
// it has no marker of one, or it is somebody's in spite of that.
func (l *Live) NoOrphan() string {
	switch {
	case !l.Orphaned:
		return "it is marked as an orphan no more"
	case l.Unmanaged:
		return "it has " + lynq.AnnotationMode + ": " + lynq.ModeUnmanaged
	case l.takenOver() != "":
		return "it is now of " + l.takenOver()
	case l.PartOf != "" || l.Node != "" && l.Hub != "":
		return "it has the tracking of a node too (lynqctl inventory verify tells of which)"
	}
	return ""
}

// Undefined is nil where a kind that the server does not serve has no objects: it is
// not defined either. Else it says why nobody knows which there are.
func Undefined(ctx context.Context, c Cluster, group, kind string) error {
	if lynq.BuiltIn(group) {
		return nil
	}
	o := observer{cluster: c}
	found, err := o.definitions(ctx, &wantedKind{group: group, kind: kind})
	switch {
	case err != nil:
		return fmt.Errorf("look whether kind %s.%s, which the server does not serve, is still defined: %w", kind, group, err)
	case found.definition != "":
		return &UnservedError{Group: group, Kind: kind, Definition: found.definition}
	}
	return nil
}
