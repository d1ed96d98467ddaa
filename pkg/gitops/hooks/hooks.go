package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Tombstones makes Argo CD delete the objects of tombstones after the rest of a node is
// healthy. A Job runs kubectl, and its permissions exist only while it runs.
type Tombstones struct {
	Image string // image with kubectl
	// Data also deletes objects that hold data.
	Data bool
	// Plural returns the name of a kind in roles, or "" if unknown.
	Plural func(group, kind string) string
}

// Meant returns the tombstones that a tree can delete. Without Data, it omits those of
// data. It also omits StatefulSets, because a tree can't know whether Kubernetes deletes
// claims with them.
func (h *Tombstones) Meant(stones []lynq.Tombstone) []lynq.Tombstone {
	return slices.DeleteFunc(slices.Clone(stones), func(t lynq.Tombstone) bool {
		return !h.Data && (t.HoldsData() || t.GroupKind() == lynq.StatefulSet)
	})
}

// Objects returns the hooks of a node for these tombstones. The error is lynq.Problems,
// for tombstones without a safe kubectl command.
func (h *Tombstones) Objects(n lynq.NodeKey, stones []lynq.Tombstone) ([]gitops.Object, error) {
	if len(stones) == 0 {
		return nil, nil
	}
	var problems lynq.Problems
	for i := range stones {
		h.check(&stones[i], &problems)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	account := lynq.Ref{Kind: "ServiceAccount", Namespace: n.Namespace, Name: hookName(n)}
	all := []map[string]any{hook("v1", account, "-1", map[string]any{"automountServiceAccountToken": false})}
	all = append(all, h.roles(n, account, stones)...)
	job := lynq.Ref{Group: "batch", Kind: "Job", Namespace: n.Namespace, Name: account.Name}
	all = append(all, hook("batch/v1", job, "0", map[string]any{"spec": h.job(account.Name, stones)}))
	objects := make([]gitops.Object, len(all))
	for i, o := range all {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		objects[i] = gitops.Object{ObjectKey: index.ObjectKey{Ref: refOf(o), ID: gitops.HookID}, Bytes: text}
	}
	return objects, nil
}

// check refuses names that might select several objects in kubectl. Names of some kinds
// may have commas or equals signs.
func (h *Tombstones) check(t *lynq.Tombstone, problems *lynq.Problems) {
	word := regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`)
	key := regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	switch {
	case !naming.IsDNS1123Label(strings.ToLower(t.Kind)) || t.Group != "" && !naming.IsDNS1123Subdomain(t.Group):
		problems.Add(t.Pos, "correct it", "tombstone: %q of group %q is not a kind", t.Kind, t.Group)
	case h.Plural(t.Group, t.Kind) == "":
		problems.Add(t.Pos, "pass its CustomResourceDefinition with -f", "tombstone: what kind %s is called in roles is not known", t.GroupKind())
	case !word.MatchString(t.Name) || t.Namespace != "" && !naming.IsDNS1123Label(t.Namespace):
		problems.Add(t.Pos, "let apply delete it", "tombstone %s: no hook is made for an object of this name", t.Ref)
	case len(t.Labels) == 0:
		problems.Add(t.Pos, "add one", "tombstone %s has no label", t.Ref)
	}
	for _, label := range slices.Sorted(maps.Keys(t.Labels)) {
		if !key.MatchString(label) || !word.MatchString(t.Labels[label]) || strings.Contains(t.Labels[label], ":") {
			problems.Add(t.Pos, "correct it", "tombstone %s: %s=%s is no label", t.Ref, label, t.Labels[label])
		}
	}
}

// hookName returns the name of a node's hooks in its namespace.
func hookName(n lynq.NodeKey) string {
	const longest, room = 63, 9 // pods have the name of their Job as a label
	name := gitops.HookID + "-" + n.Name
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(n.Name))
	return strings.TrimRight(name[:longest-room], "-.") + "-" + hex.EncodeToString(sum[:4])
}

// hook returns an object that Argo CD creates after all others, in wave order. Argo CD
// deletes it after success, or before it creates it again.
func hook(apiVersion string, ref lynq.Ref, wave string, content map[string]any) map[string]any {
	metadata := map[string]any{"name": ref.Name, "annotations": map[string]any{
		policy.ArgoHookPhase: "PostSync", policy.ArgoHookDeleted: "BeforeHookCreation,HookSucceeded", "argocd.argoproj.io/sync-wave": wave,
	}}
	if ref.Namespace != "" {
		metadata["namespace"] = ref.Namespace
	}
	object := map[string]any{"apiVersion": apiVersion, "kind": ref.Kind, "metadata": metadata}
	maps.Copy(object, content)
	return object
}

// refOf returns the reference of an object from hook.
func refOf(object map[string]any) lynq.Ref {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	group, _ := lynq.SplitAPIVersion(apiVersion)
	return lynq.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
}

const rbacGroup = "rbac.authorization.k8s.io"

// roles let an account list and delete only the tombstones' objects, by name. A name as
// field selector makes the list a request for this name.
func (h *Tombstones) roles(n lynq.NodeKey, account lynq.Ref, stones []lynq.Tombstone) []map[string]any {
	rules := map[string]map[[2]string][]string{} // from namespace to group and plural to names
	for i := range stones {
		t := &stones[i]
		if rules[t.Namespace] == nil {
			rules[t.Namespace] = map[[2]string][]string{}
		}
		kind := [2]string{t.Group, h.Plural(t.Group, t.Kind)}
		rules[t.Namespace][kind] = append(rules[t.Namespace][kind], t.Name)
	}
	var all []map[string]any
	for _, namespace := range slices.Sorted(maps.Keys(rules)) {
		// Names of nodes and namespaces never have a colon.
		ref := lynq.Ref{Group: rbacGroup, Kind: "Role", Namespace: namespace, Name: "lynqctl:" + gitops.HookID + ":" + n.Namespace + ":" + n.Name}
		if namespace == "" {
			ref.Kind = "ClusterRole"
		}
		all = append(all, hook(rbacGroup+"/v1", ref, "-1", map[string]any{"rules": policyRules(rules[namespace])}))
		binding := ref
		binding.Kind += "Binding"
		all = append(all, hook(rbacGroup+"/v1", binding, "-1", map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": ref.Kind, "name": ref.Name},
			"subjects": []any{map[string]any{"kind": account.Kind, "namespace": account.Namespace, "name": account.Name}},
		}))
	}
	return all
}

// policyRules returns the rules of a role.
func policyRules(names map[[2]string][]string) []any {
	kinds := slices.SortedFunc(maps.Keys(names), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	all := make([]any, len(kinds))
	for i, kind := range kinds {
		of := slices.Compact(slices.Sorted(slices.Values(names[kind])))
		all[i] = map[string]any{"apiGroups": []string{kind[0]}, "resources": []string{kind[1]}, "resourceNames": of, "verbs": []string{"list", "delete"}}
	}
	return all
}

// job returns a Job with one container for each tombstone, in their order. The containers
// run independently, so a failure doesn't stop the others.
func (h *Tombstones) job(account string, stones []lynq.Tombstone) map[string]any {
	containers := make([]any, len(stones))
	for i := range stones {
		containers[i] = map[string]any{
			"name": fmt.Sprintf("tombstone-%d", i+1), "image": h.Image,
			"command": append([]string{"kubectl"}, deletes(&stones[i])...),
			"env":     []any{map[string]any{"name": "HOME", "value": "/tmp"}},
			"resources": map[string]any{
				"requests": map[string]any{"cpu": "10m", "memory": "32Mi"}, "limits": map[string]any{"memory": "128Mi"},
			},
			"securityContext": map[string]any{
				"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []string{"ALL"}},
			},
			"volumeMounts": []any{map[string]any{"name": "tmp", "mountPath": "/tmp"}},
		}
	}
	return map[string]any{
		"backoffLimit": 2, "activeDeadlineSeconds": 600,
		"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "serviceAccountName": account, "automountServiceAccountToken": true, "enableServiceLinks": false,
			"securityContext": map[string]any{
				"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "seccompProfile": map[string]any{"type": "RuntimeDefault"},
			},
			"containers": containers, "volumes": []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}},
		}},
	}
}

// deletes returns the kubectl arguments that delete an object if it has all labels. The
// server selects by name and labels, so kubectl sees no other object. A dot after the
// version means the core group.
func deletes(t *lynq.Tombstone) []string {
	kind := t.Kind + "." + t.Group
	if t.Group == "" {
		kind = t.Kind + "." + t.APIVersion + "."
	}
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		labels = append(labels, key+"="+t.Labels[key])
	}
	args := []string{"delete", kind}
	if t.Namespace != "" {
		args = append(args, "--namespace="+t.Namespace)
	}
	return append(args, "--selector="+strings.Join(labels, ","), "--field-selector=metadata.name="+t.Name, "--ignore-not-found", "--wait=false")
}

// Check refuses tombstones of objects in the tree, because Argo CD would create and delete
// them for ever. It also refuses objects with the name of a hook.
func (h *Tombstones) Check(in *gitops.Input, stones [][]lynq.Tombstone) error {
	if h == nil {
		return nil
	}
	has := map[lynq.Ref]lynq.NodeKey{}
	for _, e := range gitops.Kept(in) {
		for _, o := range e.Objects {
			has[o.Ref] = e.Node
		}
	}
	var hooks []index.ObjectKey
	for _, n := range in.Nodes {
		for _, o := range n.Objects {
			if o.ID == gitops.HookID && !o.LeftOut {
				hooks = append(hooks, o.ObjectKey)
			} else {
				has[o.Ref] = n.Key()
			}
		}
	}
	var problems lynq.Problems
	for _, o := range hooks {
		if node, taken := has[o.Ref]; taken {
			problems.Add(lynq.Pos{File: "tombstones"}, "give that object another name", "a hook would be called as an object of node %s is: %s", node, o.Ref)
		}
	}
	for _, of := range stones {
		for i := range of {
			if node, taken := has[of[i].Ref]; taken {
				problems.Add(of[i].Pos, "remove one of the two", "tombstone %s: node %s renders this object", of[i].Ref, node)
			}
		}
	}
	return problems.Sorted().Err()
}
