package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// broken is a manifest with metadata that can be read, and a rest that can't.
const broken = `{"metadata":{"labels":{"lynq.sh/hub":"crm"},"name":"acme"},"data":`

// TestMakeNode checks that a node keeps what its form leaves out and deletes, and runs only
// hooks that no rule excludes.
func TestMakeNode(t *testing.T) {
	t.Parallel()
	n := rendered(t, acmeConfig, func(o *lynq.Object) { o.Sensitive = true })
	plain := rendered(t, acmeConfig, nil).Objects[0]
	n.Objects = append(n.Objects, plain)
	n.NotIncluded, n.Tombstones = []string{"cache"}, []lynq.Tombstone{{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "old"}}}
	for _, name := range []string{"first", "excluded", "last"} {
		hook := plain
		hook.Name = name
		if name == "excluded" {
			hook.Exclusion = &lynq.Exclusion{Kind: "ConfigMap"}
		}
		n.Hooks = append(n.Hooks, hook)
	}
	made, err := Make(n)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(made.NotIncluded, []string{"cache"}) || len(made.Tombstones) != 1 || made.Tombstones[0].Name != "old" {
		t.Errorf("it leaves out %q, and deletes %v", made.NotIncluded, made.Tombstones)
	}
	if !made.Objects[0].Sensitive || made.Objects[1].Sensitive {
		t.Errorf("its objects are sensitive: %t and %t", made.Objects[0].Sensitive, made.Objects[1].Sensitive)
	}
	if len(made.Hooks) != 2 || made.Hooks[0].Name != "first" || made.Hooks[1].Name != "last" {
		t.Fatalf("it has the hooks %v", made.Hooks)
	}
	for i := range made.Hooks {
		if recorded, err := made.Hooks[i].HookManifest(); err != nil || made.Hooks[i].Digest != inventory.HookDigest(recorded) {
			t.Errorf("%s: %v, its digest is %q", made.Hooks[i].Name, err, made.Hooks[i].Digest)
		}
	}
}

// TestMakeBroken checks that a manifest that can't be read fails the node, as an object and
// as a hook.
func TestMakeBroken(t *testing.T) {
	t.Parallel()
	of := func(kind, body string) lynq.Object {
		o := rendered(t, acmeConfig, nil).Objects[0]
		o.Kind, o.Body = kind, manifest.Body(body)
		return o
	}
	for name, tt := range map[string]struct {
		node      *lynq.Node
		forgotten bool // whether it lacks metadata
	}{
		"a Secret":                      {&lynq.Node{Objects: []lynq.Object{of("Secret", broken)}}, false},
		"a Secret without metadata":     {&lynq.Node{Objects: []lynq.Object{of("Secret", `{"metadata":{"name":"acme"},"metadata":null}`)}}, true},
		"a hook with a field of ours":   {&lynq.Node{Hooks: []lynq.Object{of("ConfigMap", `{"metadata":{"uid":"u1"}}`)}}, false},
		"a hook that can't be recorded": {&lynq.Node{Hooks: []lynq.Object{of("ConfigMap", broken)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if made, err := Make(tt.node); err == nil || made != nil || errors.Is(err, manifest.ErrNoMetadata) != tt.forgotten {
				t.Errorf("%s: %v, it becomes %+v", name, err, made)
			}
		})
	}
}

// TestMakeSharesPolicies checks that a StatefulSet holds data by its manifest or by its
// form, and that other rows don't notice.
func TestMakeSharesPolicies(t *testing.T) {
	t.Parallel()
	const set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: acme}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: %s}}}"
	for name, tt := range map[string]struct {
		when         string
		marked, want bool
	}{
		"it takes its claims":              {"Delete", false, true},
		"it takes its claims, and is data": {"Delete", true, true},
		"it leaves its claims, and is":     {"Retain", true, true},
		"it leaves its claims":             {"Retain", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			n := rendered(t, strings.Replace(set, "%s", tt.when, 1), func(o *lynq.Object) {
				o.Ref, o.Policy.Data = lynq.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "ns", Name: "acme"}, tt.marked
			})
			if o := made(t, n); o.Policy.Data != tt.want || n.Objects[0].Policy.Data != tt.marked {
				t.Errorf("%s: it holds data: %t, and the form says so: %t", name, o.Policy.Data, n.Objects[0].Policy.Data)
			}
		})
	}
}

// TestMakeAtOnce checks which Services are ready as soon as they exist, and that no other
// kind counts as one.
func TestMakeAtOnce(t *testing.T) {
	t.Parallel()
	const plain, balanced = "{apiVersion: v1, kind: Service, metadata: {name: acme}}", "{apiVersion: v1, kind: Service, metadata: {name: acme}, spec: {type: LoadBalancer}}"
	for name, tt := range map[string]struct {
		group, kind, text string
		want              bool
	}{
		"a Service":                      {"", "Service", plain, true},
		"a Service with a load balancer": {"", "Service", balanced, false},
		"another group's Service":        {"serving.knative.dev", "Service", plain, false},
		"a Pod":                          {"", "Pod", plain, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := made(t, rendered(t, tt.text, func(o *lynq.Object) { o.Group, o.Kind = tt.group, tt.kind }))
			if o.AtOnce != tt.want || o.Awaited() == tt.want {
				t.Errorf("%s: it is ready at once: %t, and awaited: %t", name, o.AtOnce, o.Awaited())
			}
		})
	}
}

// TestDigestIn checks that the digest of an object in another node is that of an object
// that was made there.
func TestDigestIn(t *testing.T) {
	t.Parallel()
	there, hub := lynq.NodeKey{Namespace: "ns", Name: "bolt-web"}, lynq.HubKey{Namespace: "hubs", Name: "erp"}
	owned := strings.Replace(acmeConfig, "lynq.sh/hub: crm", "lynq.sh/hub: HUB", 1)
	labelled := func(node, more string) string {
		return strings.Replace(owned, "lynq.sh/hub: HUB", "lynq.sh/hub: HUB, lynq.sh/node: "+node+", lynq.sh/node-namespace: ns"+more, 1)
	}
	of := func(text, hub, node string) *Object {
		n := rendered(t, strings.Replace(text, "HUB", hub, 1), nil)
		n.Name = node
		return made(t, n)
	}
	label := ", " + wellknown.LabelHubNamespace + ": "
	for name, tt := range map[string]struct {
		before, after string // the object here and there
		hub           lynq.HubKey
	}{
		"owned":                        {owned, owned, hub},
		"labelled, to another hub":     {labelled("acme-web", ""), labelled("bolt-web", label+"hubs"), hub},
		"labelled, from another hub":   {labelled("acme-web", label+"hubs"), labelled("bolt-web", ""), lynq.HubKey{Namespace: "ns", Name: "erp"}},
		"labelled, within a namespace": {labelled("acme-web", ""), labelled("bolt-web", ""), lynq.HubKey{Name: "erp"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, want := of(tt.before, "crm", "acme-web"), of(tt.after, "erp", there.Name).Digest
			if got, err := here.DigestIn(tt.hub, there); err != nil || got != want || got == here.Digest {
				t.Errorf("%s: %v, digest %q, want %q", name, err, got, want)
			}
		})
	}
	always := of(owned, "crm", "acme-web")
	always.Policy = &lynq.Policy{OnNodeChange: true}
	if got, err := always.DigestIn(hub, there); err != nil || got != "" {
		t.Errorf("written with its node: %v, digest %q", err, got)
	}
}

// TestDigestInRefuses checks that an object that can't be read, or has no labels, has no
// digest in another node.
func TestDigestInRefuses(t *testing.T) {
	t.Parallel()
	for body, forgotten := range map[string]bool{
		broken:                            false,
		`{"metadata":{"name":"acme"}}`:    true,
		`{"metadata":null}`:               true,
		`{"metadata":{"labels":"x"}}`:     true,
		`{"metadata":{"labels":null}}`:    true,
		`{"spec":{"labels":{"a":"b"}}}`:   true,
		`{"metadata":{"labels":["a"]}}{}`: false,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()

			o := &Object{Policy: &lynq.Policy{}, Body: manifest.Body(body)}
			got, err := o.DigestIn(lynq.HubKey{Name: "crm"}, lynq.NodeKey{Namespace: "ns", Name: "acme-web"})
			if err == nil || got != "" || errors.Is(err, manifest.ErrNoMetadata) != forgotten {
				t.Errorf("%s: %v, digest %q", body, err, got)
			}
		})
	}
}
