package hooks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/hooks"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

func tombstoneHooks() *hooks.Tombstones {
	plurals := map[string]string{"/ConfigMap": "configmaps", "apps/Deployment": "deployments", "rbac.authorization.k8s.io/ClusterRole": "clusterroles", "/Namespace": "namespaces"}
	return &hooks.Tombstones{Image: "kubectl:1", Plural: func(group, kind string) string { return plurals[group+"/"+kind] }}
}

func stone(apiVersion, kind, namespace, name string, labels map[string]string) lynq.Tombstone {
	group, _ := lynq.SplitAPIVersion(apiVersion)
	return lynq.Tombstone{Ref: lynq.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, APIVersion: apiVersion, Labels: labels, Pos: lynq.Pos{File: "form.yaml", Line: 7}}
}

// hookParts returns the arguments of each container and the rules of roles, one per line.
func hookParts(t *testing.T, objects []gitops.Object) (commands, rights []string) {
	t.Helper()
	for _, o := range objects {
		var object struct {
			Kind     string
			Metadata struct {
				Namespace   string
				Annotations map[string]string
			}
			Rules []struct{ APIGroups, Resources, ResourceNames, Verbs []string }
			Spec  struct {
				Template struct {
					Spec struct{ Containers []struct{ Command []string } }
				}
			}
		}
		if err := yaml.Unmarshal(o.Bytes, &object); err != nil {
			t.Fatal(err)
		}
		wave := map[bool]string{true: "0", false: "-1"}[object.Kind == "Job"]
		want := map[string]string{"argocd.argoproj.io/hook": "PostSync", "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation,HookSucceeded", "argocd.argoproj.io/sync-wave": wave}
		if diff := cmp.Diff(want, object.Metadata.Annotations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object.Kind, diff)
		}
		for _, r := range object.Rules {
			rights = append(rights, fmt.Sprint(object.Kind, " ", object.Metadata.Namespace, r.APIGroups, r.Resources, r.ResourceNames, r.Verbs))
		}
		for _, c := range object.Spec.Template.Spec.Containers {
			commands = append(commands, strings.Join(c.Command, " "))
		}
	}
	return commands, rights
}

// TestTombstoneHooks checks that the kubectl command of a tombstone matches one object
// with all labels. The permissions allow exactly that.
func TestTombstoneHooks(t *testing.T) {
	t.Parallel()
	node := lynq.NodeKey{Namespace: "shop", Name: "acme-web"}
	objects, err := tombstoneHooks().Objects(node, []lynq.Tombstone{
		stone("v1", "ConfigMap", "shop", "old", map[string]string{"b": "2", "a": "1"}),
		stone("v1", "ConfigMap", "shop", "older", map[string]string{"example.com/a": "X_1"}),
		stone("apps/v1", "Deployment", "far", "old", map[string]string{"a": "1"}),
		stone("rbac.authorization.k8s.io/v1", "ClusterRole", "", "sys:old", map[string]string{"a": "1"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	commands, rights := hookParts(t, objects)
	if diff := cmp.Diff([]string{
		"kubectl delete ConfigMap.v1. --namespace=shop --selector=a=1,b=2 --field-selector=metadata.name=old --ignore-not-found --wait=false",
		"kubectl delete ConfigMap.v1. --namespace=shop --selector=example.com/a=X_1 --field-selector=metadata.name=older --ignore-not-found --wait=false",
		"kubectl delete Deployment.apps --namespace=far --selector=a=1 --field-selector=metadata.name=old --ignore-not-found --wait=false",
		"kubectl delete ClusterRole.rbac.authorization.k8s.io --selector=a=1 --field-selector=metadata.name=sys:old --ignore-not-found --wait=false",
	}, commands); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"ClusterRole [rbac.authorization.k8s.io] [clusterroles] [sys:old] [list delete]",
		"Role far[apps] [deployments] [old] [list delete]",
		"Role shop[] [configmaps] [old older] [list delete]",
	}, rights); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none, err := tombstoneHooks().Objects(node, nil); len(none) > 0 || err != nil {
		t.Errorf("of no tombstones: %v, %v", none, err)
	}
}

// TestTombstoneHooksHostile refuses texts that kubectl might take for several objects or
// arguments.
func TestTombstoneHooksHostile(t *testing.T) {
	t.Parallel()
	good := map[string]string{"a": "1"}
	for want, s := range map[string]lynq.Tombstone{
		"no hook is made for an object of this name":   stone("v1", "ConfigMap", "shop", "a,metadata.name!=b", good),
		"tombstone ConfigMap/shop/a=b: no hook":        stone("v1", "ConfigMap", "shop", "a=b", good),
		"tombstone ConfigMap/shop/-A: no hook":         stone("v1", "ConfigMap", "shop", "-A", good),
		"tombstone ConfigMap/shop/$(X): no hook":       stone("v1", "ConfigMap", "shop", "$(X)", good),
		"tombstone ConfigMap/shop/: no hook":           stone("v1", "ConfigMap", "shop", "", good),
		"tombstone ConfigMap/s p/a: no hook":           stone("v1", "ConfigMap", "s p", "a", good),
		"a=1,b!=2 is no label":                         stone("v1", "ConfigMap", "shop", "a", map[string]string{"a": "1,b!=2"}),
		"a= is no label":                               stone("v1", "ConfigMap", "shop", "a", map[string]string{"a": ""}),
		"a notin (b),c=1 is no label":                  stone("v1", "ConfigMap", "shop", "a", map[string]string{"a notin (b),c": "1"}),
		"a has no label":                               stone("v1", "ConfigMap", "shop", "a", nil),
		`"ConfigMap,Secret" of group "" is not a kind`: stone("v1", "ConfigMap,Secret", "shop", "a", good),
		`"--all" of group "" is not a kind`:            stone("v1", "--all", "shop", "a", good),
		`"Cup" of group "a/b" is not a kind`:           {Ref: lynq.Ref{Group: "a/b", Kind: "Cup", Namespace: "shop", Name: "a"}, Labels: good},
		"what kind Cup.example.com is called in":       stone("example.com/v1", "Cup", "shop", "a", good),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			_, err := tombstoneHooks().Objects(lynq.NodeKey{Namespace: "shop", Name: "n"}, []lynq.Tombstone{s})
			if err == nil || !strings.Contains(err.Error(), want) || s.Pos.File != "" && !strings.HasPrefix(err.Error(), "form.yaml:7: ") {
				t.Errorf("error is %v, want one with %s", err, want)
			}
		})
	}
}

// TestTombstoneHookNames checks that hook names fit labels of pods, and are unique per
// node.
func TestTombstoneHookNames(t *testing.T) {
	t.Parallel()
	stones := []lynq.Tombstone{stone("v1", "ConfigMap", "far", "old", map[string]string{"a": "1"})}
	seen := map[lynq.Ref]string{}
	for _, n := range []lynq.NodeKey{
		{Namespace: "shop", Name: "a"}, {Namespace: "shop-a", Name: "b"}, {Namespace: "shop", Name: "a-b"},
		{Namespace: "shop", Name: strings.Repeat("a", 63)}, {Namespace: "shop", Name: strings.Repeat("a", 62) + "b"}, {Namespace: "shop", Name: strings.Repeat("a", 52)},
	} {
		objects, err := tombstoneHooks().Objects(n, stones)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if other, taken := seen[o.Ref]; taken {
				t.Errorf("%s has %s, and so has %s", n, o.Ref, other)
			}
			if seen[o.Ref] = n.String(); o.Kind == "Job" && !naming.IsDNS1123Label(o.Name) {
				t.Errorf("a Job cannot be called %s", o.Name)
			}
		}
	}
}

// TestTombstoneHooksData checks that hooks delete data only if the user asks for it.
func TestTombstoneHooksData(t *testing.T) {
	t.Parallel()
	h := tombstoneHooks()
	stones := []lynq.Tombstone{
		stone("v1", "Namespace", "", "old", map[string]string{"a": "1"}), stone("v1", "ConfigMap", "shop", "old", map[string]string{"a": "1"}),
		stone("apps/v1", "StatefulSet", "shop", "old", map[string]string{"a": "1"}),
	}
	if got := h.Meant(stones); len(got) != 1 || got[0].Kind != "ConfigMap" {
		t.Errorf("without data: %v", got)
	}
	h.Data = true
	if got := h.Meant(stones); len(got) != len(stones) {
		t.Errorf("with data: %v", got)
	}
}

// TestTombstoneHooksCheck refuses a tombstone for an object of the tree. Argo CD would
// create and delete it for ever.
func TestTombstoneHooksCheck(t *testing.T) {
	t.Parallel()
	h, node := tombstoneHooks(), lynq.NodeKey{Namespace: "shop", Name: "acme-web"}
	stones := []lynq.Tombstone{stone("v1", "ConfigMap", "shop", "old", map[string]string{"a": "1"})}
	made, err := h.Objects(node, stones)
	if err != nil {
		t.Fatal(err)
	}
	check := func(of [][]lynq.Tombstone, ref lynq.Ref) error {
		other := &gitops.Node{NodeID: lynq.NodeID{Namespace: "shop", Name: "bolt-web"}, Objects: []gitops.Object{{ObjectKey: index.ObjectKey{Ref: ref, ID: "a"}}}}
		return h.Check(&gitops.Input{Nodes: []*gitops.Node{{NodeID: lynq.NodeID{Namespace: node.Namespace, Name: node.Name}, Objects: made}, other}, Index: &index.Index{}}, of)
	}
	both := [][]lynq.Tombstone{stones, nil}
	if err := check(both, lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "new"}); err != nil {
		t.Error(err)
	}
	if err := check(both, stones[0].Ref); err == nil || err.Error() != "form.yaml:7: tombstone ConfigMap/shop/old: node shop/bolt-web renders this object (remove one of the two)" {
		t.Errorf("error is %v", err)
	}
	if err := check(both, lynq.Ref{Kind: "ServiceAccount", Namespace: "shop", Name: "tombstones-acme-web"}); err == nil || !strings.Contains(err.Error(), "a hook would be called as an object of node shop/bolt-web is") {
		t.Errorf("error is %v", err)
	}
	if err := (*hooks.Tombstones)(nil).Check(nil, both); err != nil {
		t.Errorf("without hooks: %v", err)
	}
}
