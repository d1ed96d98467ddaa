package fields

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

// A deed is a user's change to an object that lynq applied.
type deed struct {
	name  string
	do    func(m map[string]any)
	drift bool // it takes, changes or removes our fields
}

// edit returns an update by a user. kubectl edit, patch, label and annotate all work like
// this.
func (s *site) edit(patch string, subresources ...string) func(map[string]any) {
	return func(m map[string]any) { s.Patch("somebody", m, types.MergePatchType, patch, subresources...) }
}

// TestLiveFieldsTellDrift checks that the hash of lynq's fields is stable while others
// change other fields. It changes when they touch one of lynq's.
func TestLiveFieldsTellDrift(t *testing.T) {
	s := newSite(t)
	record := s.Create("lynq", sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: lynqnode-acme-web}}"))
	all := manifests(t, s.Widgets())
	applied := func(m map[string]any, force bool) func(map[string]any) {
		return func(named map[string]any) {
			s.Must(s.TryApply("neighbour", sites.With(m, sites.NameIn(named), "metadata", "name"), force))
		}
	}
	deeds := map[string][]deed{
		"ConfigMap": {
			{"changes a value", s.edit(`{"data":{"colour":"red"}}`), true},
			{"writes the same value", s.edit(`{"data":{"colour":"green"}}`), false},
			{"adds a value", s.edit(`{"data":{"theirs":"x"}}`), false},
			{"removes a value", s.edit(`{"data":{"colour":null}}`), true},
			{"empties the data", s.edit(`{"data":null}`), true},
		},
		"Service": {
			{"changes a port", s.edit(`{"spec":{"ports":[{"name":"http","port":8080}]}}`), true},
			{"changes the selector", s.edit(`{"spec":{"selector":{"app":"other"}}}`), true},
			{"adds to the selector", s.edit(`{"spec":{"selector":{"more":"x"}}}`), true},
			{"changes a default", s.edit(`{"spec":{"sessionAffinity":"ClientIP"}}`), false},
			{"writes the status", s.edit(`{"status":{"conditions":[{"type":"example.com/Seen","status":"True","reason":"Yes","message":"","lastTransitionTime":"2024-02-29T12:00:00Z"}]}}`, "status"), false},
		},
		"Deployment": {
			{"scales", s.edit(`{"spec":{"replicas":5}}`, "scale"), true},
			{"scales to what it is", s.edit(`{"spec":{"replicas":2}}`, "scale"), false},
			{"writes the status", s.edit(`{"status":{"collisionCount":1}}`, "status"), false},
			{"pauses", s.edit(`{"spec":{"paused":true}}`), false},
			{"sets an image", func(m map[string]any) {
				s.Kubectl(t, "", "set", "image", "deployment/"+sites.NameIn(m), "app=other")
			}, true},
			{"adds a container", func(m map[string]any) {
				s.Patch("injector", m, types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"s"}]}}}}`)
			}, false},
			{"restarts", func(m map[string]any) { s.Kubectl(t, "", "rollout", "restart", "deployment/"+sites.NameIn(m)) }, false},
		},
		"Widget": {
			{"changes a field", s.edit(`{"spec":{"free":{"list":[{"a":9}]}}}`), true},
			{"changes an item", s.edit(`{"spec":{"parts":[{"name":"a","colour":"blue"},{"name":"b","sub":{"deep":[1,2]}}]}}`), true},
			{"adds an item", s.edit(`{"spec":{"parts":[{"name":"a","colour":"red"},{"name":"b","sub":{"deep":[1,2]}},{"name":"c"}]}}`), false},
			{"removes a value of a set", s.edit(`{"spec":{"tags":["x"]}}`), true},
			{"writes the status", s.edit(`{"status":{"phase":"Done"}}`), false},
		},
	}
	for kind, own := range deeds {
		own = append(own,
			deed{"changes nothing", s.edit(`{}`), false},
			deed{"changes a label", func(m map[string]any) {
				s.Kubectl(t, "", "label", "--overwrite", strings.ToLower(kind)+refGroup(m)+"/"+sites.NameIn(m), wellknown.LabelHub+"=other")
			}, true},
			deed{"writes the same label", s.edit(`{"metadata":{"labels":{"lynq.sh/hub":"hub"}}}`), false},
			deed{"adds a label", s.edit(`{"metadata":{"labels":{"theirs":"x"}}}`), false},
			deed{"removes an annotation", s.edit(`{"metadata":{"annotations":{"lynq.sh/resource-id":null}}}`), true},
			deed{"adds a finalizer", s.edit(`{"metadata":{"finalizers":["example.com/a"]}}`), false},
			deed{"removes the owner", s.edit(`{"metadata":{"ownerReferences":null}}`), true},
			deed{"applies the same beside us", applied(labelled(all[kind], "hub"), false), false},
			deed{"takes a label by force", applied(labelled(all[kind], "theirs"), true), true},
		)
		for i, d := range own {
			m := tracked(all[kind], fmt.Sprintf("%s-%d", strings.ToLower(kind), i), string(record.GetUID()))
			s.drifts(kind, m, d)
		}
	}
}

// labelled returns a manifest with only a hub's label.
func labelled(m map[string]any, hub string) map[string]any {
	return sites.With(onlyIdentity(m), hub, "metadata", "labels", wellknown.LabelHub)
}

// tracked returns a manifest as lynq applies it.
func tracked(m map[string]any, name, record string) map[string]any {
	m = sites.With(sites.With(m, name, "metadata", "name"), "hub", "metadata", "labels", wellknown.LabelHub)
	m = sites.With(m, "id", "metadata", "annotations", wellknown.AnnotationResourceID)
	owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-acme-web", "uid": record, "controller": true}
	return sites.With(m, []any{owner}, "metadata", "ownerReferences")
}

func (s *site) drifts(kind string, m map[string]any, d deed) {
	s.T.Helper()
	before := s.fields(s.Apply("lynq", m))
	if kind == "Deployment" {
		s.Wait(s.T, "deployment/"+sites.NameIn(m), sites.RevisionIs1())
		s.Wait(s.T, "deployment/"+sites.NameIn(m), harness.PathEquals(".status.observedGeneration", "1"))
	}
	if got := s.fields(s.Apply("lynq", m)); got != before {
		s.T.Errorf("%s: the fields are not the same after controllers wrote and we applied once more", kind)
	}
	d.do(m)
	live := s.Get(m)
	if drift := s.fields(live) != before; drift != d.drift {
		s.T.Errorf("%s: somebody %s: drift is %t\n%s", kind, d.name, drift, sites.Encode(s.T, live.Object))
	}
	if d.name == "adds a finalizer" {
		s.Unfinalize(m)
	}
}

// fields returns the hash that inventories keep to find drift.
func (s *site) fields(u *unstructured.Unstructured) string {
	s.T.Helper()
	l := tracking.LiveOf(lynq.Ref{}, metaOf(s.T, u))
	if l.Fields == "" || l.Updated {
		s.T.Errorf("%s is not applied by lynq alone", u.GetName())
	}
	return l.Fields
}
