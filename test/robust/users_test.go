package robust_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// users returns the users with all permissions except one: KIND:VERB.
func users() []string {
	return []string{model.Claim + ":list", model.Claim + ":delete", model.Widget + ":list", model.Widget + ":delete"}
}

// user returns a user's name in the cluster.
func (w *world) user(lacks string) string {
	return strings.ToLower(strings.ReplaceAll(lacks, ":", "-")) + "." + w.Namespace
}

// allowed reports whether a user has a permission, in memory.
func (w *world) allowed(user, verb, resource string) bool {
	if user == "" {
		return true
	}
	for _, lacks := range users() {
		kind, lacking, _ := strings.Cut(lacks, ":")
		if user == w.user(lacks) && verb == lacking && resource == w.plural(kind) {
			return false
		}
	}
	return true
}

// giveRights creates the roles of users.
func (w *world) giveRights(t *testing.T) {
	t.Helper()
	const everything = `"*"`
	var manifests []string
	for _, lacks := range users() {
		kind, verb, _ := strings.Cut(lacks, ":")
		verbs := map[string]string{model.Claim: everything, model.Widget: everything}
		verbs[kind] = map[string]string{
			"list":   `get, watch, create, update, patch, delete`,
			"delete": `get, list, watch, create, update, patch`,
		}[verb]
		manifests = append(manifests, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
  - {apiGroups: [""], resources: [configmaps, secrets, events, serviceaccounts, namespaces, pods], verbs: ["*"]}
  - {apiGroups: [apps, batch, coordination.k8s.io, apiextensions.k8s.io, events.k8s.io, %[2]s], resources: ["*"], verbs: ["*"]}
  - {apiGroups: [""], resources: [persistentvolumeclaims], verbs: [%[3]s]}
  - {apiGroups: [%[4]s], resources: [widgets], verbs: [%[5]s]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]
`, w.user(lacks), w.things(), verbs[model.Claim], w.group, verbs[model.Widget]))
	}
	w.createAll(t, strings.Join(manifests, "---\n"))
	last := w.user(users()[len(users())-1])
	w.await(t, "the rights of "+last, func() (bool, error) {
		out, _ := w.real.TryKubectl(t, "", "auth", "can-i", "create", "configmaps", "--as="+last, "-n", w.Namespace) // "no" is an error
		return strings.TrimSpace(out) == "yes", nil
	})
}
