package policy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/test/formtest"
)

// annotated returns the annotations and losses of Annotate as text, one per line. It omits
// those that each resource has.
func annotated(f *form.Form, target Target, apps Apps) string {
	losses := Annotate(f, target, apps)
	var b strings.Builder
	for _, r := range f.Resources {
		for _, a := range r.Annotations {
			if a.Key+a.Text.Text != argoSyncOptions+"ServerSideApply=true" {
				b.WriteString(r.ID + " " + a.Key + ": " + a.Text.Text + "\n")
			}
		}
	}
	for _, l := range losses {
		if l.Policy != "conflictPolicy: Stuck" && !strings.HasPrefix(l.Instead, "Flux removes the fields") { // see TestDefaults
			b.WriteString(strings.TrimSpace("lost "+l.Resource) + " " + l.Policy + ": " + l.Instead + "\n")
		}
	}
	return b.String()
}

// TestDefaults checks the losses of each resource with default policies.
func TestDefaults(t *testing.T) {
	for target, want := range map[Target][]string{Argo: {"conflictPolicy: Stuck"}, Flux: {"conflictPolicy: Stuck", "patchStrategy: apply"}} {
		t.Run(string(target), func(t *testing.T) {
			var got []string
			for _, l := range Annotate(formtest.Load(t, formtest.ConfigMap("a", "")), target, AppsNone) {
				got = append(got, l.Policy)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v", target, got)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	for _, test := range policyTests() {
		t.Run(test.name, func(t *testing.T) {
			for _, column := range []struct {
				target Target
				apps   Apps
				want   string
			}{
				{Argo, AppsNone, test.argo}, {Argo, AppsApplications, test.argoApps},
				{Flux, AppsNone, test.flux}, {Flux, AppsKustomizations, test.fluxApps}, {Flux, AppsOrdered, test.fluxOrdered},
			} {
				f := formtest.LoadAll(t, test.spec, test.resources)[0]
				if diff := cmp.Diff(column.want, annotated(f, column.target, column.apps)); diff != "" {
					t.Errorf("%s %s:\n%s", column.target, column.apps, diff)
				}
			}
			if f := formtest.LoadAll(t, test.spec, test.resources)[0]; len(Annotate(f, Plain, AppsNone)) > 0 || len(f.Resources[0].Annotations) > 0 {
				t.Errorf("plain manifests get annotations")
			}
		})
	}
}

// TestPoliciesComplete checks that the table of TestPolicies has a resource with each policy.
func TestPoliciesComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range policyTests() {
		f := formtest.LoadAll(t, test.spec, test.resources)[0]
		o := OrderOf(f)
		for i, r := range f.Resources {
			for _, e := range table() {
				seen[e.policy] = seen[e.policy] || e.of(&subject{Resource: r, form: f, order: o, i: i})
			}
		}
	}
	for _, e := range table() {
		if !seen[e.policy] {
			t.Errorf("no test has a resource with %s", e.policy)
		}
	}
}

type policyTest struct {
	name, spec, resources                       string
	argo, argoApps, flux, fluxApps, fluxOrdered string
}

// bystander returns the loss of a resource that also waits for others in Argo CD.
func bystander(id, others string) string {
	return "lost " + id + " skipOnDependencyFailure: true: it also waits for " + others + ": Argo CD begins a wave when all earlier waves are healthy\n"
}

// byFlux returns the losses under Flux, if Argo CD has the same.
func byFlux(losses string) string { return strings.ReplaceAll(losses, "Argo CD", "Flux") }

func policyTests() []policyTest {
	ns := formtest.Object("v1", "Namespace", "ns", "dependIds: []")
	inside := "- {id: in, nameTemplate: x, targetNamespace: \"{{ .uid }}-ns\", spec: {apiVersion: v1, kind: ConfigMap}}\n"
	namespace := "lost ns deletionPolicy: Delete: Argo CD deletes it with everything in it, also objects of others (apply keeps it then)\n"
	unordered := func(id, needs string) string {
		return "lost " + id + " dependIds: it does not wait for " + needs + ": all of a node is applied at once (--emit-apps=ordered-kustomizations keeps the order)\n"
	}
	unwaved := func(id, needs string) string {
		return strings.Replace(unordered(id, needs), "dependIds", "applyOrder", 1)
	}
	const waved = "b argocd.argoproj.io/sync-wave: 1\nc argocd.argoproj.io/sync-wave: 2\nd argocd.argoproj.io/sync-wave: 3\n" +
		"e argocd.argoproj.io/sync-wave: 2\nz argocd.argoproj.io/sync-wave: 4\n"
	const hook = "a argocd.argoproj.io/hook: Sync\na argocd.argoproj.io/hook-delete-policy: HookSucceeded\n" +
		"lost a purgeOrder: it does its work at every sync, and goes when that ends\n"
	const stays = "lost a purgeOrder: it stays: Flux would create again what is deleted\n"
	const prunes = "lost a deleteOrder: Argo CD prunes in the reverse order of its sync waves\n"
	const deletes = "lost a deleteOrder: Flux deletes all that goes at once\n"
	const helmStays = "lost a patchStrategy: override: what Helm set and the form does not have stays\n"
	const unbound = "lost data waitForReady: true: later waves wait until the claim is bound: for ever where its class binds on first use\n"
	adopted := "lost a adoptionPolicy: Argo CD takes over existing objects, whoever made them\nlost b adoptionPolicy: Argo CD takes over existing objects, whoever made them\n"
	return []policyTest{
		{name: "nothing special", resources: formtest.ConfigMap("a", "conflictPolicy: Force, adoptionPolicy: Always")},
		{
			name: "adoption", resources: formtest.ConfigMap("a", "conflictPolicy: Force, adoptionPolicy: Never") + formtest.ConfigMap("b", "adoptionPolicy: if-unowned"),
			argo: adopted, argoApps: adopted, flux: byFlux(adopted), fluxApps: byFlux(adopted), fluxOrdered: byFlux(adopted),
		},
		{
			name: "written again with the node", resources: formtest.ConfigMap("a", "reconcilePolicy: OnObjectOrNodeChange"),
			argo:     "lost a reconcilePolicy: OnObjectOrNodeChange: it is written only where it differs from Git\n",
			argoApps: "lost a reconcilePolicy: OnObjectOrNodeChange: it is written only where it differs from Git\n",
		},
		{
			name: "written again in time", resources: formtest.ConfigMap("a", "reapplyInterval: 9m") + formtest.ConfigMap("b", "reapplyInterval: 10m"),
			argo:        "lost a reapplyInterval: it is written only where it differs from Git\nlost b reapplyInterval: it is written only where it differs from Git\n",
			argoApps:    "lost a reapplyInterval: it is written only where it differs from Git\nlost b reapplyInterval: it is written only where it differs from Git\n",
			flux:        "lost a reapplyInterval: it is written at every spec.interval of its Kustomization, 10m with --emit-apps, where it differs from Git\n",
			fluxApps:    "lost a reapplyInterval: it is written at every spec.interval of its Kustomization, 10m with --emit-apps, where it differs from Git\n",
			fluxOrdered: "lost a reapplyInterval: it is written at every spec.interval of its Kustomization, 10m with --emit-apps, where it differs from Git\n",
		},
		{
			name:      "order",
			resources: formtest.ConfigMap("a", "dependIds: []") + formtest.ConfigMap("b", "dependIds: [a]") + formtest.ConfigMap("c", "dependIds: [b, a]"),
			argo:      "b argocd.argoproj.io/sync-wave: 1\nc argocd.argoproj.io/sync-wave: 2\n",
			argoApps:  "b argocd.argoproj.io/sync-wave: 1\nc argocd.argoproj.io/sync-wave: 2\n",
			flux:      unordered("b", "a") + unordered("c", "a, b"),
			fluxApps:  unordered("b", "a") + unordered("c", "a, b"),
		},
		{
			name: "waves", // Argo CD has a wave per level of all waves; Flux waits for the last resources of the previous wave
			resources: formtest.ConfigMap("z", "applyOrder: 5, dependIds: [a]") + formtest.ConfigMap("a", "applyOrder: -1") + formtest.ConfigMap("b", "applyOrder: -1, dependIds: [a]") +
				formtest.ConfigMap("c", "dependIds: []") + formtest.ConfigMap("d", "dependIds: [c]") + formtest.ConfigMap("e", "dependIds: []"),
			argo: waved + bystander("d", "e"), argoApps: waved + bystander("d", "e"),
			flux:     unordered("b", "a") + unordered("d", "c") + unordered("z", "a") + unwaved("c", "b") + unwaved("e", "b") + unwaved("z", "d, e"),
			fluxApps: unordered("b", "a") + unordered("d", "c") + unordered("z", "a") + unwaved("c", "b") + unwaved("e", "b") + unwaved("z", "d, e"),
		},
		{
			name: "purged", resources: formtest.ConfigMap("a", "purgeOrder: 0"),
			argo: hook, argoApps: hook, flux: stays, fluxApps: stays, fluxOrdered: stays,
		},
		{
			name: "deletion wave", resources: formtest.ConfigMap("a", "deleteOrder: -1"),
			argo: prunes, argoApps: prunes, flux: deletes, fluxApps: deletes, fluxOrdered: deletes,
		},
		{
			name:      "waves and a claim", // the claim keeps its own wave
			resources: formtest.Object("v1", "PersistentVolumeClaim", "data", "applyOrder: 0") + formtest.Object("batch/v1", "Job", "init", "applyOrder: 0") + formtest.Object("apps/v1", "Deployment", "app", "applyOrder: 1, dependIds: [data]"),
			argo:      "app argocd.argoproj.io/sync-wave: 1\n" + unbound, argoApps: "app argocd.argoproj.io/sync-wave: 1\n" + unbound,
			flux: unordered("app", "data") + unwaved("app", "data, init"), fluxApps: unordered("app", "data") + unwaved("app", "data, init"),
		},
		{
			name: "namespace", resources: inside + ns,
			argo:     "in argocd.argoproj.io/sync-wave: 1\n" + namespace,
			argoApps: "in argocd.argoproj.io/sync-wave: 1\n" + namespace,
			flux:     byFlux(namespace), fluxApps: byFlux(namespace), fluxOrdered: byFlux(namespace),
		},
		{
			name:      "goes on without its dependency",
			resources: formtest.ConfigMap("a", "dependIds: []") + formtest.ConfigMap("b", "dependIds: [a], skipOnDependencyFailure: false"),
			argo: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost b skipOnDependencyFailure: false: it is not applied until all that it depends on is healthy\n",
			argoApps: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost b skipOnDependencyFailure: false: it is not applied until all that it depends on is healthy\n",
			flux: unordered("b", "a"), fluxApps: unordered("b", "a"),
			fluxOrdered: "lost b skipOnDependencyFailure: false: it is not applied until all that it depends on is ready\n",
		},
		{
			name: "recreate",
			resources: formtest.ConfigMap("a", "conflictPolicy: Force, adoptionPolicy: Always, patchStrategy: recreate") +
				formtest.Object("v1", "PersistentVolumeClaim", "data", "conflictPolicy: Force, adoptionPolicy: Always, patchStrategy: recreate"),
			argo: "lost a patchStrategy: recreate: it is changed in place, and a field that cannot change fails the sync (Force=true,Replace=true of the form's own recreates it at every sync)\n" +
				"lost data patchStrategy: recreate: it is changed in place, and a field that cannot change fails the sync (Force=true,Replace=true of the form's own recreates it at every sync)\n",
			argoApps: "lost a patchStrategy: recreate: it is changed in place, and a field that cannot change fails the sync (Force=true,Replace=true of the form's own recreates it at every sync)\n" +
				"lost data patchStrategy: recreate: it is changed in place, and a field that cannot change fails the sync (Force=true,Replace=true of the form's own recreates it at every sync)\n",
			flux: "a kustomize.toolkit.fluxcd.io/force: Enabled\nlost a patchStrategy: recreate: it is changed in place where the server allows that\n", fluxApps: "a kustomize.toolkit.fluxcd.io/force: Enabled\nlost a patchStrategy: recreate: it is changed in place where the server allows that\n",
			fluxOrdered: "a kustomize.toolkit.fluxcd.io/force: Enabled\nlost a patchStrategy: recreate: it is changed in place where the server allows that\n",
		},
		{
			name: "override", resources: formtest.ConfigMap("a", "conflictPolicy: Force, adoptionPolicy: Always, patchStrategy: override"),
			argo:        helmStays,
			argoApps:    helmStays,
			flux:        helmStays,
			fluxApps:    helmStays,
			fluxOrdered: helmStays,
		},
		{
			name: "readiness", resources: formtest.Object("apps/v1", "Deployment", "a", "readiness: {readyCondition: true}"),
			argo:        "lost a readiness: it is healthy when Argo CD's own rule for its kind says so (resource.customizations.health changes that)\n",
			argoApps:    "lost a readiness: it is healthy when Argo CD's own rule for its kind says so (resource.customizations.health changes that)\n",
			flux:        "lost a readiness: it is ready when kstatus says so (healthCheckExprs of its Kustomization changes that)\n",
			fluxApps:    "lost a readiness: it is ready when kstatus says so (healthCheckExprs of its Kustomization changes that)\n",
			fluxOrdered: "lost a readiness: it is ready when kstatus says so (healthCheckExprs of its Kustomization changes that)\n",
		},
		{
			name:      "is not waited for",
			resources: formtest.ConfigMap("a", "waitForReady: false") + formtest.ConfigMap("b", "dependIds: [a], waitForReady: false"),
			argo: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost a waitForReady: false: later waves wait until it is healthy\n",
			argoApps: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost a waitForReady: false: later waves wait until it is healthy\n",
			flux: unordered("b", "a"), fluxApps: unordered("b", "a"),
		},
		{
			name: "claim",
			resources: formtest.Object("v1", "PersistentVolumeClaim", "data", "dependIds: []") + formtest.ConfigMap("a", "dependIds: []") +
				formtest.Object("apps/v1", "Deployment", "app", "dependIds: [data, a]") + formtest.Object("v1", "Service", "svc", "dependIds: [app]"),
			argo:     "data argocd.argoproj.io/sync-wave: 1\napp argocd.argoproj.io/sync-wave: 1\nsvc argocd.argoproj.io/sync-wave: 2\n" + bystander("data", "a"),
			argoApps: "data argocd.argoproj.io/sync-wave: 1\napp argocd.argoproj.io/sync-wave: 1\nsvc argocd.argoproj.io/sync-wave: 2\n" + bystander("data", "a"),
			flux:     unordered("app", "data, a") + unordered("svc", "app"), fluxApps: unordered("app", "data, a") + unordered("svc", "app"),
		},
		{
			name:      "claim of a ConfigMap",
			resources: formtest.Object("v1", "PersistentVolumeClaim", "a", "dependIds: []") + formtest.ConfigMap("b", "dependIds: [a]"),
			argo: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost a waitForReady: true: later waves wait until the claim is bound: for ever where its class binds on first use\n",
			argoApps: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost a waitForReady: true: later waves wait until the claim is bound: for ever where its class binds on first use\n",
			flux: unordered("b", "a"), fluxApps: unordered("b", "a"),
		},
		{
			name:      "timeouts",
			resources: formtest.ConfigMap("a", "timeoutSeconds: 600") + formtest.ConfigMap("b", "dependIds: [a], timeoutSeconds: 20"),
			argo: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost a timeoutSeconds: later waves wait for it without a limit\n",
			argoApps: "b argocd.argoproj.io/sync-wave: 1\n" +
				"lost a timeoutSeconds: later waves wait for it without a limit\n",
			flux: unordered("b", "a") +
				"lost a timeoutSeconds: the timeout is that of your Kustomization\n" +
				"lost b timeoutSeconds: the timeout is that of your Kustomization\n",
			fluxApps: unordered("b", "a") +
				"lost b timeoutSeconds: the node has the longest timeout of its resources, 10m0s\n",
			fluxOrdered: "lost b timeoutSeconds: Flux waits 30s at least\n",
		},
		{
			name: "once", resources: formtest.ConfigMap("a", "creationPolicy: Once"),
			argo: "lost a creationPolicy: Once: its content is written again at every sync (--emit-apps makes Argo CD leave it alone)\n",
			flux: "a kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n", fluxApps: "a kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n",
			fluxOrdered: "a kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n",
			argoApps:    "lost a creationPolicy: Once: Argo CD leaves its content alone, and writes its labels and annotations where they differ from Git\n",
		},
		{
			name: "retain", resources: formtest.ConfigMap("a", "deletionPolicy: Retain"),
			argo:     "a argocd.argoproj.io/sync-options: Prune=false,Delete=false,ServerSideApply=true\n",
			argoApps: "a argocd.argoproj.io/sync-options: Prune=false,Delete=false,ServerSideApply=true\n",
			flux:     "a kustomize.toolkit.fluxcd.io/prune: disabled\n", fluxApps: "a kustomize.toolkit.fluxcd.io/prune: disabled\n",
			fluxOrdered: "a kustomize.toolkit.fluxcd.io/prune: disabled\n",
		},
		{
			name: "retain on apply", resources: formtest.ConfigMap("a", "deletionPolicy: RetainOnApply"),
			argo:        "a argocd.argoproj.io/sync-options: Prune=false,ServerSideApply=true\nlost a deletionPolicy: RetainOnApply: it stays, too, when its node goes\n",
			argoApps:    "a argocd.argoproj.io/sync-options: Prune=false,ServerSideApply=true\n",
			flux:        "a kustomize.toolkit.fluxcd.io/prune: disabled\nlost a deletionPolicy: RetainOnApply: it stays, too, when its node goes\n",
			fluxApps:    "a kustomize.toolkit.fluxcd.io/prune: disabled\nlost a deletionPolicy: RetainOnApply: it stays, too, when its node goes\n",
			fluxOrdered: "a kustomize.toolkit.fluxcd.io/prune: disabled\nlost a deletionPolicy: RetainOnApply: it stays, too, when its node goes\n",
		},
		{
			name: "retain on delete", resources: formtest.ConfigMap("a", "deletionPolicy: RetainOnDelete"),
			argo:        "a argocd.argoproj.io/sync-options: Prune=false,Delete=false,ServerSideApply=true\nlost a deletionPolicy: RetainOnDelete: it stays, too, when the form drops it\n",
			argoApps:    "a argocd.argoproj.io/sync-options: Prune=false,Delete=false,ServerSideApply=true\nlost a deletionPolicy: RetainOnDelete: it stays, too, when the form drops it\n",
			flux:        "a kustomize.toolkit.fluxcd.io/prune: disabled\nlost a deletionPolicy: RetainOnDelete: it stays, too, when the form drops it\n",
			fluxApps:    "a kustomize.toolkit.fluxcd.io/prune: disabled\nlost a deletionPolicy: RetainOnDelete: it stays, too, when the form drops it\n",
			fluxOrdered: "a kustomize.toolkit.fluxcd.io/prune: disabled\nlost a deletionPolicy: RetainOnDelete: it stays, too, when the form drops it\n",
		},
		{
			name:      "patch strategies",
			resources: formtest.ConfigMap("a", "patchStrategy: merge") + formtest.ConfigMap("b", "patchStrategy: replace") + formtest.ConfigMap("c", "patchStrategy: merge, creationPolicy: Once"),
			argo: "a argocd.argoproj.io/sync-options: ServerSideApply=false\nb argocd.argoproj.io/sync-options: Replace=true\nc argocd.argoproj.io/sync-options: ServerSideApply=false\n" +
				"lost c creationPolicy: Once: its content is written again at every sync (--emit-apps makes Argo CD leave it alone)\n",
			argoApps: "a argocd.argoproj.io/sync-options: ServerSideApply=false\nb argocd.argoproj.io/sync-options: Replace=true\nc argocd.argoproj.io/sync-options: ServerSideApply=false\n" +
				"lost c creationPolicy: Once: Argo CD leaves its content alone, and writes its labels and annotations where they differ from Git\n",
			flux: "a kustomize.toolkit.fluxcd.io/ssa: Merge\nb kustomize.toolkit.fluxcd.io/ssa: Override\nc kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n" +
				"lost b patchStrategy: replace: server-side apply: what others added to it stays\n",
			fluxApps: "a kustomize.toolkit.fluxcd.io/ssa: Merge\nb kustomize.toolkit.fluxcd.io/ssa: Override\nc kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n" +
				"lost b patchStrategy: replace: server-side apply: what others added to it stays\n",
			fluxOrdered: "a kustomize.toolkit.fluxcd.io/ssa: Merge\nb kustomize.toolkit.fluxcd.io/ssa: Override\nc kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n" +
				"lost b patchStrategy: replace: server-side apply: what others added to it stays\n",
		},
		{
			name:        "ignored fields",
			resources:   "- {id: a, nameTemplate: x, ignoreFields: [$.data.x, \"$.list[?(@.name == 'y')].z\", $..w], spec: {apiVersion: v1, kind: ConfigMap, data: {x: \"1\"}}}\n",
			argo:        "lost a ignoreFields: the fields are written at every sync (--emit-apps makes Argo CD leave them alone)\n",
			argoApps:    "lost a ignoreFields: no path of jq is known to say the same as $..w: the field is written at every sync\n",
			flux:        "lost a ignoreFields: the fields are written at every sync (--emit-apps makes Flux leave them alone)\n",
			fluxApps:    "lost a ignoreFields: no JSON pointer says the same as $.list[?(@.name == 'y')].z, $..w: the field is written at every sync\n",
			fluxOrdered: "lost a ignoreFields: no JSON pointer says the same as $.list[?(@.name == 'y')].z, $..w: the field is written at every sync\n",
		},
		{
			name: "other forms", spec: "  dependForms: [db]\n", resources: formtest.ConfigMap("a", "dependIds: []"),
			argo:        "lost dependForms: Applications of different forms do not wait for each other\n",
			argoApps:    "lost dependForms: Applications of different forms do not wait for each other\n",
			flux:        "lost dependForms: Kustomizations of different forms do not wait for each other\n",
			fluxApps:    "lost dependForms: Kustomizations of different forms do not wait for each other\n",
			fluxOrdered: "lost dependForms: Kustomizations of different forms do not wait for each other\n",
		},
		{
			name: "rollout", spec: "  rollout: {maxSkew: 2}\n", resources: formtest.ConfigMap("a", "dependIds: []"),
			argo:        "lost rollout.maxSkew: all nodes change at once when Argo CD sees the commit\n",
			argoApps:    "lost rollout.maxSkew: all nodes change at once when Argo CD sees the commit\n",
			flux:        "lost rollout.maxSkew: all nodes change at once when Flux sees the commit\n",
			fluxApps:    "lost rollout.maxSkew: all nodes change at once when Flux sees the commit\n",
			fluxOrdered: "lost rollout.maxSkew: all nodes change at once when Flux sees the commit\n",
		},
	}
}

// TestEveryResource checks the losses that the other tests omit.
func TestEveryResource(t *testing.T) {
	for apps, want := range map[Apps]string{
		AppsNone:         "Argo CD takes over objects of others",
		AppsApplications: "Argo CD takes over objects of others, and stops at an object of another Application",
	} {
		t.Run(string(apps), func(t *testing.T) {
			f := formtest.Load(t, formtest.ConfigMap("a", "dependIds: []"))
			losses := Annotate(f, Argo, apps)
			if own, _ := ownAnnotation(f.Resources[0], argoSyncOptions); own != "ServerSideApply=true" {
				t.Errorf("sync options are %q", own)
			}
			if len(losses) != 1 || losses[0].Policy != "conflictPolicy: Stuck" || losses[0].Instead != want {
				t.Errorf("%+v", losses)
			}
		})
	}
}

// TestOwnAnnotations checks that annotations of the form win, wherever they are, and that
// nothing appears twice.
func TestOwnAnnotations(t *testing.T) {
	for _, test := range []struct{ name, annotations, target, want string }{
		{"merged", `argocd.argoproj.io/sync-options: "SkipDryRunOnMissingResource=true, "`, "argo",
			"a argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true,Prune=false,Delete=false,ServerSideApply=true\n"},
		{"empty", `argocd.argoproj.io/sync-options: ""`, "argo",
			"a argocd.argoproj.io/sync-options: Prune=false,Delete=false,ServerSideApply=true\n"},
		{"there already", `argocd.argoproj.io/sync-options: "Delete=false,ServerSideApply=true,Prune=false"`, "argo",
			"a argocd.argoproj.io/sync-options: Delete=false,ServerSideApply=true,Prune=false\n"},
		{"otherwise", `argocd.argoproj.io/sync-options: "Prune=confirm , ServerSideApply=false"`, "argo",
			"a argocd.argoproj.io/sync-options: Prune=confirm , ServerSideApply=false,Delete=false\n" +
				"lost a deletionPolicy: Retain: the form's own annotation goes first: argocd.argoproj.io/sync-options: Prune=confirm\n" +
				"lost a patchStrategy: apply: the form's own annotation goes first: argocd.argoproj.io/sync-options: ServerSideApply=false\n"},
		{"a template", `argocd.argoproj.io/sync-options: "{{ .uid }}"`, "argo",
			"a argocd.argoproj.io/sync-options: {{ .uid }}\n" +
				"lost a deletionPolicy: Retain: the form's own annotation goes first: argocd.argoproj.io/sync-options: {{ .uid }}\n" +
				"lost a patchStrategy: apply: the form's own annotation goes first: argocd.argoproj.io/sync-options: {{ .uid }}\n"},
		{"the same", `kustomize.toolkit.fluxcd.io/prune: Disabled`, "flux", "a kustomize.toolkit.fluxcd.io/prune: Disabled\n"},
		{"another", `kustomize.toolkit.fluxcd.io/prune: enabled`, "flux", "a kustomize.toolkit.fluxcd.io/prune: enabled\n" +
			"lost a deletionPolicy: Retain: the form's own annotation goes first: kustomize.toolkit.fluxcd.io/prune: enabled\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, where := range []string{
				"annotationsTemplate: {ANNOTATIONS}, spec: {apiVersion: v1, kind: ConfigMap}",
				"spec: {apiVersion: v1, kind: ConfigMap, metadata: {annotations: {ANNOTATIONS}}}",
			} {
				f := formtest.Load(t, "- {id: a, nameTemplate: x, deletionPolicy: Retain, "+strings.Replace(where, "ANNOTATIONS", test.annotations, 1)+"}\n")
				got := annotated(f, Target(test.target), AppsNone)
				if own := f.Resources[0].Manifest.Field("metadata").Field("annotations"); own != nil && len(f.Resources[0].Annotations) == 0 {
					got = "a " + own.Fields[0].Key + ": " + own.Fields[0].Value.Str + "\n" + got // no annotation had to change
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s:\n%s", where, diff)
				}
			}
		})
	}
}

// TestOwnWaves checks that a wave in the form remains, and that dependent resources follow
// it.
func TestOwnWaves(t *testing.T) {
	wave := func(text string) string { return `annotationsTemplate: {argocd.argoproj.io/sync-wave: "` + text + `"}` }
	for _, test := range []struct{ resources, want string }{
		{formtest.ConfigMap("a", wave("-5")) + formtest.ConfigMap("b", "dependIds: [a]"),
			"a argocd.argoproj.io/sync-wave: -5\n"},
		{formtest.ConfigMap("a", wave("7")) + formtest.ConfigMap("b", "dependIds: [a]"),
			"a argocd.argoproj.io/sync-wave: 7\nb argocd.argoproj.io/sync-wave: 8\n"},
		{formtest.ConfigMap("a", "dependIds: []") + formtest.ConfigMap("b", "dependIds: [a], "+wave("0")),
			"b argocd.argoproj.io/sync-wave: 0\n" +
				"lost b dependIds: it does not wait for a; the form's own annotation goes first: argocd.argoproj.io/sync-wave: 0\n"},
		{formtest.ConfigMap("a", "dependIds: []") + formtest.ConfigMap("b", "dependIds: [a], "+wave("{{ .uid }}")),
			"b argocd.argoproj.io/sync-wave: {{ .uid }}\n" +
				"lost b dependIds: the form's own annotation goes first: argocd.argoproj.io/sync-wave: {{ .uid }}\n"},
	} {
		t.Run(test.resources, func(t *testing.T) {
			if diff := cmp.Diff(test.want, annotated(formtest.Load(t, test.resources), Argo, AppsNone)); diff != "" {
				t.Errorf("%s\n%s", test.resources, diff)
			}
		})
	}
}

// TestOrderWithoutSaying checks that a Namespace and a CustomResourceDefinition precede
// the resources that need them. Cycles don't hang.
func TestOrderWithoutSaying(t *testing.T) {
	const definition = `
	- id: crd
	  dependIds: [first]
	  spec:
	    apiVersion: apiextensions.k8s.io/v1
	    kind: CustomResourceDefinition
	    metadata: {name: things.example.com}
	    spec: {group: example.com, names: {kind: Thing}}
	- {id: first, nameTemplate: x, spec: {apiVersion: v1, kind: ConfigMap}}
	- {id: thing, nameTemplate: x, spec: {apiVersion: example.com/v1beta1, kind: Thing}}
	- {id: other, nameTemplate: x, spec: {apiVersion: example.org/v1, kind: Thing}}
`
	if diff := cmp.Diff("crd argocd.argoproj.io/sync-wave: 1\nthing argocd.argoproj.io/sync-wave: 2\n"+
		bystander("crd", "other")+bystander("thing", "other")+
		"lost crd deletionPolicy: Delete: Argo CD deletes it with everything in it, also objects of others (apply keeps it then)\n",
		annotated(formtest.Load(t, strings.ReplaceAll(definition, "\t", "  ")), Argo, AppsNone)); diff != "" {
		t.Error(diff)
	}
	circle := formtest.Object("v1", "Namespace", "ns", "dependIds: [in], deletionPolicy: Retain") +
		"- {id: in, nameTemplate: x, targetNamespace: \" {{ .uid }}-ns\", spec: {apiVersion: v1, kind: ConfigMap}}\n"
	const turn = "lost in dependIds: it does not wait for ns, which needs it in turn\n"
	if got := annotated(formtest.Load(t, circle), Argo, AppsNone); !strings.Contains(got, "ns argocd.argoproj.io/sync-wave: 1\n") || !strings.HasSuffix(got, turn) {
		t.Errorf("a circle for Argo CD: %s", got)
	}
	if got := annotated(formtest.Load(t, circle), Flux, AppsOrdered); !strings.HasSuffix(got, turn) {
		t.Errorf("a circle for Flux: %s", got)
	}
}

// TestLaterWaves checks that a wave waits for all earlier ones, so that a claim delays
// unrelated resources.
func TestLaterWaves(t *testing.T) {
	f := formtest.Load(t, formtest.Object("v1", "PersistentVolumeClaim", "data", "dependIds: []")+formtest.ConfigMap("a", "dependIds: []")+formtest.ConfigMap("b", "dependIds: [a]"))
	if got := annotated(f, Argo, AppsNone); !strings.Contains(got, "lost data waitForReady: true: later waves wait") {
		t.Errorf("%s", got)
	}
}

// TestDocumentation checks that the documentation has each policy and annotation of the
// table.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/gitops-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{argoSyncOptions, argoSyncWave, fluxSSA, fluxPrune, fluxForce, fluxSubstitute, "rollout.maxSkew"}
	for _, e := range table() {
		wanted = append(wanted, e.policy)
	}
	for _, w := range wanted {
		if !strings.Contains(string(text), "`"+w) {
			t.Errorf("docs/gitops-policies.md does not have `%s", w)
		}
	}
}
