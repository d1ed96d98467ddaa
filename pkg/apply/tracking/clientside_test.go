package tracking

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestClientSide checks which managers have fields that override takes back.
func TestClientSide(t *testing.T) {
	const some, held = `{"f:data":{"f:a":{}}}`, `{"f:metadata":{"f:finalizers":{"v:\"x\"":{}},"f:ownerReferences":{".":{}}}}`
	ours := fieldsEntry("lynq", "Apply", "", "v1", some)
	for name, tt := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		"nothing":                     {nil, false},
		"lynq":                        {[]metav1.ManagedFieldsEntry{ours}, false},
		"kubectl apply":               {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("kubectl-client-side-apply", "Update", "", "v1", some)}, true},
		"kubectl create, before lynq": {[]metav1.ManagedFieldsEntry{fieldsEntry("kubectl-create", "Update", "", "v1", some)}, true},
		"Helm on the server":          {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("helm", "Apply", "", "v1", some)}, true},
		"another version":             {[]metav1.ManagedFieldsEntry{fieldsEntry("helm", "Update", "", "v1beta1", some), ours}, false},
		"a subresource":               {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("helm", "Update", "status", "v1", some)}, false},
		"finalizers and owners alone": {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("helm", "Update", "", "v1", held)}, false},
		"unreadable":                  {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("helm", "Update", "", "v1", `{`)}, true},
		"a person":                    {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("kubectl-edit", "Update", "", "v1", some)}, false},
		"kubectl apply --server-side": {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("kubectl", "Apply", "", "v1", some)}, false},
		"a controller":                {[]metav1.ManagedFieldsEntry{ours, fieldsEntry("kube-controller-manager", "Update", "", "v1", some)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := LiveOf(lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: tt.entries}})
			if l.ClientSide != tt.want {
				t.Errorf("%t", l.ClientSide)
			}
		})
	}
}
