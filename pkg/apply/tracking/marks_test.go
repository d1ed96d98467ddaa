package tracking

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// labelledBy returns an entry of a manager that set a label. annotatedBy does so for an
// annotation.
func labelledBy(manager, key string) metav1.ManagedFieldsEntry {
	return entry(manager, metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:`+key+`":{}}}}`)
}

func annotatedBy(manager, key string) metav1.ManagedFieldsEntry {
	return entry(manager, metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:annotations":{"f:`+key+`":{}}}}`)
}

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

// TestMarks checks that the marks of each tool make it the owner. Copied marks, shared
// marks and the form's own don't. A takeover removes exactly the tool's marks.
func TestMarks(t *testing.T) {
	deployment := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}
	namespace := lynq.Ref{Kind: "Namespace", Name: "acme"}
	type m = map[string]string
	type entries = []metav1.ManagedFieldsEntry
	const release, releaseNS, managedBy, instance = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance"
	for name, tt := range map[string]struct {
		ref                 lynq.Ref
		labels, annotations m
		managers            entries
		want, removed       string
	}{
		"nothing": {ref: deployment},
		"Flux Kustomization": {deployment, m{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, nil, nil,
			"Kustomization flux-system/apps", "kustomize.toolkit.fluxcd.io/name kustomize.toolkit.fluxcd.io/namespace"},
		"Flux Kustomization without a namespace": {deployment, m{"kustomize.toolkit.fluxcd.io/name": "apps"}, nil, nil, "Kustomization apps", "kustomize.toolkit.fluxcd.io/name"},
		"Flux HelmRelease": {deployment, m{"helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": "a", managedBy: "Helm"}, m{release: "web", releaseNS: "a"}, nil,
			"HelmRelease a/web", "helm.toolkit.fluxcd.io/name helm.toolkit.fluxcd.io/namespace " + managedBy + " " + release + " " + releaseNS},
		"Flux's policies": {deployment, m{"kustomize.toolkit.fluxcd.io/prune": "disabled"}, m{"kustomize.toolkit.fluxcd.io/ssa": "Merge"}, nil, "", ""},

		"Argo CD": {deployment, nil, m{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web", "argocd.argoproj.io/installation-id": "one"}, nil,
			"Application shop", "argocd.argoproj.io/tracking-id argocd.argoproj.io/installation-id"},
		"Argo CD, another namespace":     {deployment, nil, m{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:other/web"}, nil, "", ""},
		"Argo CD, another kind":          {deployment, nil, m{"argocd.argoproj.io/tracking-id": "shop:apps/StatefulSet:default/web"}, nil, "", ""},
		"Argo CD, half an id":            {deployment, nil, m{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment"}, nil, "Application shop", "argocd.argoproj.io/tracking-id"},
		"Argo CD, an odd id":             {deployment, nil, m{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:x"}, nil, "Application shop", "argocd.argoproj.io/tracking-id"},
		"Argo CD, cluster-scoped":        {namespace, nil, m{"argocd.argoproj.io/tracking-id": "shop:/Namespace:argocd/acme"}, nil, "Application shop", "argocd.argoproj.io/tracking-id"},
		"Argo CD, another object":        {namespace, nil, m{"argocd.argoproj.io/tracking-id": "shop:/Namespace:argocd/other"}, nil, "", ""},
		"Argo CD by label":               {deployment, m{instance: "shop"}, nil, entries{labelledBy("argocd-controller", instance)}, "Application shop", instance},
		"Argo CD by label, its own name": {deployment, m{instance: "shop"}, nil, entries{labelledBy("argocd-application-controller", instance)}, "Application shop", instance},
		"an instance label":              {deployment, m{instance: "shop"}, nil, nil, "", ""},
		"an instance label of kubectl":   {deployment, m{instance: "shop"}, nil, entries{labelledBy("kubectl-client-side-apply", instance), labelledBy("argocd-controller", "app")}, "", ""},

		"Helm": {deployment, m{managedBy: "Helm", instance: "r", "helm.sh/chart": "web-1"}, m{release: "shop", releaseNS: "web"}, nil,
			"Helm release web/shop", managedBy + " " + release + " " + releaseNS},
		"Helm by its manager":                   {deployment, nil, m{release: "shop", releaseNS: "web"}, entries{labelledBy("helm", "app")}, "Helm release web/shop", release + " " + releaseNS},
		"Helm 2 by its manager":                 {deployment, nil, m{release: "shop"}, entries{labelledBy("Helm", "app")}, "Helm release shop", release},
		"what a chart says":                     {deployment, m{managedBy: "Helm", instance: "shop"}, nil, entries{labelledBy("kubectl-client-side-apply", "app")}, "", ""},
		"an annotation of Helm, copied":         {deployment, m{managedBy: "lynqctl"}, m{release: "shop"}, nil, "", ""},
		"the form's own annotation of Helm":     {deployment, m{managedBy: "Helm"}, m{release: "shop"}, entries{annotatedBy("lynq", release)}, "", ""},
		"the form's own, and Helm's":            {deployment, m{managedBy: "Helm"}, m{release: "shop"}, entries{annotatedBy("lynq", release), annotatedBy("helm", release)}, "Helm release shop", managedBy + " " + release},
		"the form's own, in a set that is none": {deployment, m{managedBy: "Helm"}, m{release: "shop"}, entries{entry("lynq", metav1.ManagedFieldsOperationApply, `{"f:`)}, "Helm release shop", managedBy + " " + release},

		"OLM": {deployment, m{"olm.owner": "op.v1", "olm.owner.namespace": "ops", "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true"}, nil, nil,
			"OLM ClusterServiceVersion ops/op.v1", "olm.managed olm.owner olm.owner.kind olm.owner.namespace"},
		"OLM without an owner": {namespace, m{"olm.managed": "true"}, nil, nil, "OLM", "olm.managed"},
		"OLM 1": {namespace, m{"olm.operatorframework.io/owner-name": "op", "olm.operatorframework.io/owner-kind": "ClusterExtension"}, nil, nil,
			"OLM ClusterExtension op", "olm.operatorframework.io/owner-kind olm.operatorframework.io/owner-name"},
		"not OLM": {deployment, m{"olm.managed": "false"}, nil, nil, "", ""},

		"Crossplane composite": {deployment, m{"crossplane.io/composite": "shop-x7"}, nil, nil, "Crossplane composite shop-x7", "crossplane.io/composite"},
		"Crossplane claim": {namespace, m{"crossplane.io/claim-name": "shop", "crossplane.io/claim-namespace": "web"}, nil, nil,
			"Crossplane claim web/shop", "crossplane.io/claim-name crossplane.io/claim-namespace"},
		"Crossplane's policies": {deployment, nil, m{"crossplane.io/external-name": "x", "crossplane.io/paused": "true"}, nil, "", ""},

		"Config Sync": {deployment, m{managedBy: "configmanagement.gke.io"}, m{"configmanagement.gke.io/managed": "enabled", "configsync.gke.io/resource-id": "apps_deployment_default_web", "configsync.gke.io/manager": ":root_main"}, nil,
			"Config Sync :root_main", managedBy + " configmanagement.gke.io/managed configsync.gke.io/manager configsync.gke.io/resource-id"},
		"Config Sync, cluster-scoped":   {namespace, nil, m{"configmanagement.gke.io/managed": "enabled", "configsync.gke.io/resource-id": "_namespace_acme"}, nil, "Config Sync", "configmanagement.gke.io/managed configsync.gke.io/resource-id"},
		"Config Sync, older":            {namespace, nil, m{"configmanagement.gke.io/managed": "enabled"}, nil, "Config Sync", "configmanagement.gke.io/managed"},
		"Config Sync, another object":   {namespace, nil, m{"configmanagement.gke.io/managed": "enabled", "configsync.gke.io/resource-id": "_namespace_other"}, nil, "", ""},
		"Config Sync, switched off":     {namespace, nil, m{"configmanagement.gke.io/managed": "disabled"}, nil, "", ""},
		"Config Sync, by cli-utils too": {namespace, nil, m{"configmanagement.gke.io/managed": "enabled", "config.k8s.io/owning-inventory": "id"}, nil, "Config Sync", "config.k8s.io/owning-inventory configmanagement.gke.io/managed"},

		"Fleet": {deployment, m{"objectset.rio.cattle.io/hash": "h", managedBy: "Helm"}, m{"objectset.rio.cattle.io/id": "default-shop", release: "shop", releaseNS: "web"}, nil,
			"object set default-shop", managedBy + " " + release + " " + releaseNS + " objectset.rio.cattle.io/hash objectset.rio.cattle.io/id"},
		"Fleet bundle": {deployment, nil, m{"fleet.cattle.io/bundle-id": "shop"}, nil, "Fleet bundle shop", "fleet.cattle.io/bundle-id"},
		"k3s": {deployment, m{"objectset.rio.cattle.io/hash": "h"}, m{"objectset.rio.cattle.io/id": "", "objectset.rio.cattle.io/owner-gvk": "k3s.cattle.io/v1, Kind=Addon", "objectset.rio.cattle.io/owner-name": "coredns", "objectset.rio.cattle.io/owner-namespace": "kube-system", "objectset.rio.cattle.io/applied": "H4s"}, nil,
			"Addon kube-system/coredns", "objectset.rio.cattle.io/applied objectset.rio.cattle.io/hash objectset.rio.cattle.io/id objectset.rio.cattle.io/owner-gvk objectset.rio.cattle.io/owner-name objectset.rio.cattle.io/owner-namespace"},

		"kapp": {deployment, m{"kapp.k14s.io/app": "1700", "kapp.k14s.io/association": "v1.x"}, m{"kapp.k14s.io/identity": "v1;x"}, nil,
			"kapp app 1700", "kapp.k14s.io/app kapp.k14s.io/association kapp.k14s.io/identity"},
		"kapp, under its own label": {deployment, m{"team.example.com/app": "1700", "kapp.k14s.io/association": "v1.x"}, m{"kapp.k14s.io/identity": "v1;x"}, nil,
			"kapp app v1.x", "kapp.k14s.io/association kapp.k14s.io/identity"},
		"Argo CD, under its own label":  {deployment, m{"argocd.argoproj.io/instance": "shop"}, nil, entries{labelledBy("argocd-controller", "argocd.argoproj.io/instance")}, "Application shop", "argocd.argoproj.io/instance"},
		"Argo CD, its label by kubectl": {deployment, m{"argocd.argoproj.io/instance": "shop"}, nil, nil, "Application shop", "argocd.argoproj.io/instance"},
		"Argo CD, the form's own label": {deployment, m{"argocd.argoproj.io/instance": "shop"}, nil, entries{labelledBy("lynq", "argocd.argoproj.io/instance")}, "", ""},
		"Argo CD, its oldest label":     {deployment, m{"applications.argoproj.io/app-name": "shop"}, nil, nil, "Application shop", "applications.argoproj.io/app-name"},
		"KubeVela":                      {deployment, m{"app.oam.dev/name": "shop", "app.oam.dev/namespace": "web"}, nil, nil, "KubeVela application web/shop", "app.oam.dev/name app.oam.dev/namespace"},
		"kro": {deployment, m{"kro.run/owned": "true", "kro.run/instance-name": "shop", "kro.run/instance-namespace": "web", "kro.run/instance-id": "u", managedBy: "kro"}, nil, nil,
			"kro instance web/shop", managedBy + " kro.run/instance-id kro.run/instance-name kro.run/instance-namespace kro.run/owned"},
		"kro, not owned":           {deployment, m{"kro.run/owned": "false", "kro.run/instance-name": "shop"}, nil, nil, "", ""},
		"Sveltos":                  {deployment, m{"projectsveltos.io/reference-name": "p", "projectsveltos.io/reference-kind": "ConfigMap"}, nil, nil, "Sveltos, from p", "projectsveltos.io/reference-kind projectsveltos.io/reference-name"},
		"Sveltos by annotation":    {deployment, nil, m{"projectsveltos.io/reference-name": "p"}, nil, "Sveltos, from p", "projectsveltos.io/reference-name"},
		"Kyverno":                  {deployment, m{"generate.kyverno.io/policy-name": "sync", managedBy: "kyverno"}, nil, nil, "Kyverno policy sync", managedBy + " generate.kyverno.io/policy-name"},
		"HNC":                      {deployment, m{"hnc.x-k8s.io/inherited-from": "org", managedBy: "hnc.x-k8s.io"}, nil, nil, "HNC, from namespace org", managedBy + " hnc.x-k8s.io/inherited-from"},
		"HNC, not inherited":       {deployment, m{"hnc.x-k8s.io/inherited-from": ""}, nil, nil, "", ""},
		"Tanka":                    {deployment, m{"tanka.dev/environment": "e"}, nil, nil, "Tanka environment e", "tanka.dev/environment"},
		"addon-manager":            {deployment, m{"addonmanager.kubernetes.io/mode": "Reconcile"}, nil, nil, "addon-manager", "addonmanager.kubernetes.io/mode"},
		"addon-manager, only once": {deployment, m{"addonmanager.kubernetes.io/mode": "EnsureExists"}, nil, nil, "", ""},
		"cli-utils":                {deployment, nil, m{"config.k8s.io/owning-inventory": "id-1"}, nil, "inventory id-1", "config.k8s.io/owning-inventory"},
		"cli-utils, no one":        {deployment, nil, m{"config.k8s.io/owning-inventory": ""}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := Object{tt.ref, tt.labels, tt.annotations, tt.managers}
			if owner := b.Owner(); owner != tt.want {
				t.Errorf("it belongs to %q, want %q", owner, tt.want)
			}
			removed := slices.Sorted(slices.Values(slices.Concat(b.Removable(true), b.Removable(false))))
			if diff := cmp.Diff(slices.Sorted(slices.Values(strings.Fields(tt.removed))), removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			labels, annotations := maps.Clone(tt.labels), maps.Clone(tt.annotations)
			for _, key := range removed {
				delete(labels, key)
				delete(annotations, key)
			}
			if rest := (&Object{tt.ref, labels, annotations, tt.managers}); rest.Owner() != "" {
				t.Errorf("without its marks it belongs to %q", rest.Owner())
			}
		})
	}
}

// TestMarksOfEachTool checks that every tool has a claiming mark, and that no mark occurs
// twice.
func TestMarksOfEachTool(t *testing.T) {
	claims, seen := map[tool]bool{}, map[mark]bool{}
	for _, m := range marks() {
		claims[m.tool] = claims[m.tool] || m.claims
		if seen[m] || m.key == "" {
			t.Errorf("%+v appears twice, or has no key", m)
		}
		seen[m] = true
	}
	for at := range helm + 1 {
		if !claims[at] {
			t.Errorf("tool %d claims nothing", at)
		}
	}
}
