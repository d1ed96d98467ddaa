package gitops_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/apps"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
)

// TestTreeWithAppsDeletesLikeCluster is TestTreeDeletesLikeCluster with each kind of
// --emit-apps.
func TestTreeWithAppsDeletesLikeCluster(t *testing.T) {
	t.Parallel()
	for kind, target := range map[policy.Apps]policy.Target{
		policy.AppsApplications: policy.Argo, policy.AppsApplicationSet: policy.Argo,
		policy.AppsKustomizations: policy.Flux, policy.AppsOrdered: policy.Flux,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			gitops.CompareApps(t, target, kind, func(hubs []index.HubScope) (gitops.Apps, error) {
				var forms []apps.Form
				for _, h := range hubs {
					for _, f := range h.Forms {
						forms = append(forms, apps.Form{Hub: h.HubKey, Form: &form.Form{
							Name: f.Name, Namespace: f.Namespace,
							Resources: []*form.Resource{{ID: "configmap", Kind: "ConfigMap"}, {ID: "persistentvolumeclaim", Kind: "PersistentVolumeClaim"}, {ID: "volume", Kind: "PersistentVolumeClaim"}},
						}})
					}
				}
				return apps.New(apps.Options{Kind: kind, RepoURL: "https://git.example/tenants"}, forms)
			})
		})
	}
}
