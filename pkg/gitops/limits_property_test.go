package gitops

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// tenant is a row of this test.
type tenant struct {
	namespace string
	name      int  // part of the volume's name
	settings  int  // part of the ConfigMap's name
	retained  bool // the target keeps its objects
	door, db  bool // values of two includeWhen conditions
	noVolume  bool // the form has no volume
	nothing   bool // the form has no resource
}

// tenants are rows that change.
type tenants struct {
	*rand.Rand
	rows map[string]*tenant // key has hub, form and uid
}

func (w *tenants) one() bool { return w.IntN(8) == 0 }

// change changes some rows. Most changes don't matter, but some are large.
func (w *tenants) change() {
	for _, hub := range []string{"crm", "erp"} {
		for i := range 3 {
			key := fmt.Sprintf("%s/web/t%d", hub, i)
			row := w.rows[key]
			switch {
			case row == nil && w.IntN(2) == 0:
				w.rows[key] = &tenant{namespace: "default", door: true, db: true, retained: w.one()}
			case row == nil || w.IntN(3) > 0:
			default:
				w.changeRow(key, row)
			}
		}
	}
}

func (w *tenants) changeRow(key string, row *tenant) {
	switch w.IntN(14) {
	case 0:
		delete(w.rows, key)
	case 1:
		row.namespace = []string{"default", "eu"}[w.IntN(2)]
	case 2:
		row.name++
	case 3:
		row.retained = !row.retained
	case 4:
		row.door = !row.door
	case 5:
		row.db = !row.db
	case 6:
		row.noVolume = !row.noVolume
	case 7:
		row.nothing = !row.nothing
	default:
		row.settings++
	}
}

// document returns an object with its node's name in it.
func document(n *Node, apiVersion, kind, name, more string) Object {
	ref := lynq.Ref{Kind: kind, Namespace: n.Namespace, Name: name}
	ref.Group, _ = lynq.SplitAPIVersion(apiVersion)
	return Object{ObjectKey: index.ObjectKey{Ref: ref, ID: strings.ToLower(kind)}, Bytes: fmt.Appendf(nil,
		"apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %s\n  labels:\n    node: %s.%s\n%s",
		apiVersion, kind, name, n.Namespace, n.Namespace, n.Name, more)}
}

// node renders a row. Hubs share uids, so nodes share names.
func (w *tenants) node(key string) *Node {
	row, parts := w.rows[key], strings.Split(key, "/")
	n := &Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: parts[0]}, Form: lynq.FormKey{Name: "web"}, UID: parts[2], Namespace: row.namespace, Name: parts[2] + "-web"}}
	if parts[0] == "erp" {
		n.Namespace = "erp-" + n.Namespace
	}
	if n.Failed = w.one(); n.Failed || row.nothing {
		return n
	}
	prefix := strings.Join(parts, "-")
	retained := ""
	if row.retained {
		retained = "  annotations:\n    argocd.argoproj.io/sync-options: Prune=false\n"
	}
	n.Objects = append(n.Objects, document(n, "v1", "ConfigMap", fmt.Sprintf("%s-%d", prefix, row.settings), ""))
	if !row.noVolume {
		n.Objects = append(n.Objects, document(n, "v1", "PersistentVolumeClaim", fmt.Sprintf("%s-%d", prefix, row.name), retained))
	}
	if row.door {
		n.Objects = append(n.Objects, document(n, "v1", "Service", prefix, ""))
	} else {
		n.NotIncluded = append(n.NotIncluded, "service")
	}
	if row.db {
		n.Objects = append(n.Objects, document(n, "apps/v1", "StatefulSet", prefix, retained+"spec:\n  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n"))
	} else {
		n.NotIncluded = append(n.NotIncluded, "statefulset")
	}
	return n
}

// run returns a run on everything or on a part.
func (w *tenants) run() *Input {
	in := &Input{Target: policy.Argo, Arrangement: Arrangement{PerNode: w.IntN(2) == 0, Spread: w.one()}}
	for _, hub := range []string{"crm", "erp"} {
		if !w.one() {
			in.Hubs = append(in.Hubs, index.HubScope{HubKey: lynq.HubKey{Name: hub}, Forms: []lynq.FormKey{{Name: "web"}}})
		}
	}
	if w.one() {
		in.Only = map[string]bool{"t1-web": true}
	}
	in.Selected = w.one() && !in.PerNode
	for _, key := range slices.Sorted(maps.Keys(w.rows)) {
		n := w.node(key)
		if !in.Covers(&index.Entry{Owned: index.Owned{Owner: index.OwnerOf(n.NodeID)}}) {
			continue
		}
		for i := range n.Objects {
			n.Objects[i].LeftOut = in.Selected && w.IntN(2) == 0
		}
		in.Nodes = append(in.Nodes, n)
		if !n.Failed && len(n.Objects) == 0 {
			in.PerNode = false // a node without objects has a file too, but no list names it
		}
	}
	return in
}

// treeObject is an object that the tree's lists name.
type treeObject struct {
	node           string
	id             string
	data, retained bool
	onApply        bool // retained only as long as its Application exists
}

// objectsOf reads a tree through its kustomization.yaml files, without the index.
func objectsOf(t *testing.T, files map[string]string) map[string]treeObject {
	t.Helper()
	if files[kustomizationFile] == "" {
		return map[string]treeObject{}
	}
	return objectsIn(t, ledTo(t, files, "."))
}

// objectsIn returns the objects of documents.
func objectsIn(t *testing.T, documents []string) map[string]treeObject {
	t.Helper()
	all := map[string]treeObject{}
	for _, text := range documents {
		var o struct {
			Kind     string
			Metadata struct {
				Name, Namespace     string
				Labels, Annotations map[string]string
			}
		}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all[o.Kind+"/"+o.Metadata.Namespace+"/"+o.Metadata.Name] = treeObject{
			node: o.Metadata.Labels["node"], id: cmp.Or(o.Metadata.Labels["resource"], strings.ToLower(o.Kind)),
			data:     o.Kind == "PersistentVolumeClaim" || o.Kind == "StatefulSet",
			retained: len(o.Metadata.Annotations) > 0,
			onApply:  o.Metadata.Annotations["argocd.argoproj.io/sync-options"] == "Prune=false",
		}
	}
	return all
}

// counted returns the nodes that a guard must count, from the trees before and after.
func counted(in *Input, before, after map[string]treeObject) map[string]string {
	now, stays, why := map[string]*Node{}, map[string]bool{}, map[string]string{}
	for _, n := range in.Nodes {
		now[n.Namespace+"."+n.Name] = n
	}
	for _, o := range after {
		stays[o.node] = true
	}
	for ref, o := range before {
		n := now[o.node]
		_, there := after[ref]
		switch {
		case n == nil && !stays[o.node]:
			why[o.node] = "it is gone"
		case there || o.retained:
		case n != nil && slices.Contains(n.NotIncluded, o.id), o.data, !stays[o.node]:
			why[o.node] = "it loses " + ref
		}
	}
	return why
}

// TestTollProperty checks that the guard counts exactly the nodes that lose an object. It
// tries random rows, layouts and parts of the tree.
func TestTollProperty(t *testing.T) {
	t.Parallel()
	refused := 0
	for seed := range uint64(6) {
		w := &tenants{Rand: rand.New(rand.NewPCG(seed, 24)), rows: map[string]*tenant{}}
		s := newSite(t)
		s.quick = true
		for step := range 40 {
			w.change()
			in, before := w.run(), map[string]treeObject{}
			if step > 0 {
				before = objectsOf(t, s.files())
			}
			again := func(limit int) []plan.Refusal {
				next := *in
				next.Limits, next.Nodes = decide.Limits{MaxDelete: limits.MaxDelete{Nodes: limit}}, cloned(in.Nodes)
				_, p := s.plan(&next)
				return Refuse(&next, p)
			}
			if refusals := again(100); in.Selected && len(refusals) > 0 && refusals[0].Guard == GuardTwice {
				continue // with a selector, a node's single file remains
			} else if len(refusals) > 0 {
				t.Fatalf("seed %d, step %d: %v", seed, step, refusals)
			}
			atMost := map[lynq.HubKey]int{}
			for limit := 6; limit >= 0; limit-- {
				for _, r := range again(limit) {
					atMost[r.Hub] = max(atMost[r.Hub], limit+1)
				}
			}
			run := *in
			run.Nodes = cloned(in.Nodes)
			s.run(&run)
			why := counted(in, before, objectsOf(t, s.files()))
			for _, n := range in.Nodes { // the guard knows that these move when they render
				for _, o := range before {
					if ns, name, _ := strings.Cut(o.node, "."); n.Failed && name == n.Name && ns != n.Namespace && strings.HasPrefix(ns, "erp") == (n.Hub.Name == "erp") {
						why[o.node] = "its row moves, and fails to render"
					}
				}
			}
			going := 0
			for _, n := range atMost {
				going += n
			}
			if len(why) != going {
				t.Fatalf("seed %d, step %d: %d nodes count, and these lose something: %v; %v", seed, step, going, why, again(0))
			}
			refused += min(going, 1)
		}
	}
	if refused < 30 {
		t.Errorf("a guard would have refused only %d runs", refused)
	}
}

// cloned returns copies of nodes, because a plan adds objects to its nodes.
func cloned(nodes []*Node) []*Node {
	all := make([]*Node, len(nodes))
	for i, n := range nodes {
		next := *n
		next.Objects = slices.Clone(n.Objects)
		all[i] = &next
	}
	return all
}
