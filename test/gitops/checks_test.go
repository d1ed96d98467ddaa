package gitops

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/harness"
)

// inOrder wants each object of a node to be created after its dependencies existed, and
// after slow ones were ready.
func inOrder(t *testing.T, env *harness.Env, uid string) {
	t.Helper()
	app := env.Get(t, "deployment/"+uid+"-app")
	for _, first := range []string{"persistentvolumeclaim/" + uid + "-data", "configmap/" + uid + "-settings"} {
		made := env.Get(t, first).GetCreationTimestamp()
		if at := app.GetCreationTimestamp(); at.Before(&made) {
			t.Errorf("the Deployment was made at %s, before %s at %s", at, first, made)
		}
	}
	conditions, _, err := unstructured.NestedSlice(app.Object, "status", "conditions")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(conditions, func(c any) bool { condition, _ := c.(map[string]any); return condition["type"] == "Available" })
	if i < 0 {
		t.Fatal("the Deployment was not waited for")
	}
	condition, _ := conditions[i].(map[string]any)
	var available metav1.Time
	text, _ := condition["lastTransitionTime"].(string)
	if err := available.UnmarshalQueryParameter(text); err != nil {
		t.Fatal(err)
	}
	if made := env.Get(t, "service/"+uid+"-front").GetCreationTimestamp(); made.Before(&available) {
		t.Errorf("the Service was made at %s, before the Deployment was available at %s", made, available)
	}
}

// made returns the form's objects that no controller writes to.
func made(t *testing.T, env *harness.Env) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for _, resource := range []string{"configmaps", "secrets", "services"} {
		list, err := env.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Namespace(env.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if o := &list.Items[i]; o.GetLabels()["lynq.sh/hub"] != "" {
				all[resource+"/"+o.GetName()] = o
			}
		}
	}
	if len(all) < 10 {
		t.Fatalf("there are only %v", all)
	}
	return all
}

// versions returns their resource versions, which every write changes.
func versions(t *testing.T, env *harness.Env) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, o := range made(t, env) {
		all[name] = o.GetResourceVersion()
	}
	return all
}

// contents returns their contents.
func contents(t *testing.T, env *harness.Env) map[string]any {
	t.Helper()
	all := map[string]any{}
	for name, o := range made(t, env) {
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
		all[name] = o.Object
	}
	return all
}

func unchanged(t *testing.T, before, after map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			t.Errorf("%s was written again", name)
		}
	}
}

// tamper changes fields that the forms ignore, and fields that they don't.
func tamper(t *testing.T, env *harness.Env) {
	t.Helper()
	patch := func(ref, patch string) {
		env.Kubectl(t, "", "patch", ref, "--type=strategic", "--field-manager=autoscaler", "-p", patch)
	}
	patch("configmap/acme-settings", `{"data":{"plan":"theirs"}}`)
	patch("secret/acme-login", `{"data":{"password":"dGhlaXJz"}}`)
	patch("deployment/acme-app", `{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"sidecar","image":"sidecar:theirs"}]}}}}`)
	for _, name := range []string{"merged", "replaced"} {
		patch("configmap/acme-"+name, `{"data":{"plan":"theirs","added":"by others"}}`)
	}
}

// afterChange wants plan pro and image v2 in acme, except in ignored fields.
func afterChange(t *testing.T, env *harness.Env) {
	t.Helper()
	env.Equal(t, "configmap/acme-settings", ".data.plan", "theirs")
	env.Equal(t, "secret/acme-login", ".data.password", "dGhlaXJz")
	env.Equal(t, "secret/acme-login", ".data.user", "YWNtZQ==")
	env.Equal(t, "deployment/acme-app", ".spec.replicas", "3")
	env.Equal(t, "deployment/acme-app", ".spec.template.spec.containers[0].image", "app:v2")
	env.Equal(t, "configmap/acme-merged", ".data.plan", "pro")
	env.Equal(t, "configmap/acme-merged", ".data.added", "by others")
	env.Equal(t, "configmap/acme-replaced", ".data.plan", "pro")
}

// retained wants beta to be gone, except for retained objects.
func retained(t *testing.T, env *harness.Env) {
	t.Helper()
	claim := env.Get(t, "persistentvolumeclaim/beta-data")
	if claim.GetDeletionTimestamp() != nil {
		t.Error("the claim of beta is being deleted")
	}
	for _, ref := range []string{"deployment/beta-app", "service/beta-front", "configmap/beta-settings", "configmap/beta-merged", "secret/beta-login"} {
		env.Wait(t, ref, harness.Gone())
	}
}
