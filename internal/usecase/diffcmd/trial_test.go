package diffcmd

import (
	"context"
	"errors"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestTrialWritesNothing asks a diffRun for every kind of write. It has no cluster, so a
// write that isn't refused would crash.
func TestTrialWritesNothing(t *testing.T) {
	tr := &diffRun{}
	_, err := tr.Write(t.Context(), lynq.APIResource{}, write.Request{Verb: write.Update})
	_, deleted := tr.Delete(t.Context(), lynq.APIResource{}, decide.Permit{}, write.Deletion{})
	_, saved := tr.Save(t.Context(), nil)
	for what, err := range map[string]error{
		"write": err, "save": saved, "remove": tr.Remove(t.Context(), nil, decide.Permit{}),
		"delete": deleted,
	} {
		t.Run(what, func(t *testing.T) {
			if !errors.Is(err, errDiffRun) {
				t.Errorf("%v", err)
			}
		})
	}
}

// moving is a cluster whose object changes between a trial and a read, a given number of
// times. A real server does so at random.
type moving struct {
	apply.Cluster
	moves, version int
}

func (m *moving) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetResourceVersion(strconv.Itoa(m.version))
	return o
}

func (m *moving) Get(context.Context, lynq.APIResource, string, string) (*unstructured.Unstructured, error) {
	if m.moves > 0 {
		m.moves--
		m.version++
	}
	return m.object(), nil
}

func (m *moving) Try(context.Context, lynq.APIResource, write.Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error) {
	return m.object(), &metav1.PartialObjectMetadata{}, nil
}

// TestTrialLooksAgain wants both sides of a comparison from one version, unless the object
// never rests.
func TestTrialLooksAgain(t *testing.T) {
	for moves, want := range map[int][2]string{0: {"0", "0"}, 1: {"1", "1"}, 2: {"2", "2"}, 50: {"3", "2"}} {
		tr := &diffRun{Cluster: &moving{moves: moves}, sides: map[lynq.Ref]sides{}}
		if _, err := tr.Write(t.Context(), lynq.APIResource{Kind: "ConfigMap"}, write.Request{DryRun: true, Name: "acme"}); err != nil {
			t.Fatal(err)
		}
		s := tr.sides[lynq.Ref{Kind: "ConfigMap", Name: "acme"}]
		live, next := unstructured.Unstructured{Object: s.live}, unstructured.Unstructured{Object: s.next}
		if got := [2]string{live.GetResourceVersion(), next.GetResourceVersion()}; got != want {
			t.Errorf("%d moves: versions %v, want %v", moves, got, want)
		}
	}
}
