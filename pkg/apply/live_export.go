package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// LiveOf takes from an object's metadata what is kept of it. The metadata itself
// is not kept.
func LiveOf(ref lynq.Ref, m *metav1.PartialObjectMetadata) Live { return liveOf(ref, m) }

// TakenOver names the controller or the other tool that claims an object, "" for
// none.
func (l *Live) TakenOver() string { return l.takenOver() }

// LiveOfObject is LiveOf for a whole object.
func LiveOfObject(ref lynq.Ref, o *unstructured.Unstructured) (*Live, error) {
	m, err := metadataOf(o)
	if err != nil {
		return nil, err
	}
	l := liveOf(ref, m)
	return &l, nil
}
