package kube_test

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

func TestConfigMaps(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	maps := c.ConfigMaps()
	made, err := maps.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "lynqhub-m", Finalizers: []string{"lynq.sh/test"}}, Data: map[string]string{"a": "ä\n"},
	})
	if err != nil || made.UID == "" || made.Data["a"] != "ä\n" {
		t.Fatalf("%v, %v", made, err)
	}
	c.Owners(t, "configmap/lynqhub-m", ".data.a", "lynq Update")
	read, err := maps.Get(t.Context(), c.Namespace, "lynqhub-m")
	if err != nil || read.ResourceVersion != made.ResourceVersion {
		t.Fatalf("%v, %v", read, err)
	}
	read.Data["a"], read.Finalizers = "2", nil
	changed, err := maps.Update(t.Context(), read)
	if err != nil || changed.Data["a"] != "2" {
		t.Fatalf("%v, %v", changed, err)
	}
	if _, err := maps.Update(t.Context(), made); !apierrors.IsConflict(err) {
		t.Errorf("an update of what changed: %v, want a conflict", err)
	}
	if err := maps.Delete(t.Context(), permit(t, made)); !apierrors.IsConflict(err) {
		t.Errorf("a delete of what changed: %v, want a conflict", err)
	}
	if err := maps.Delete(t.Context(), permit(t, changed)); err != nil {
		t.Error(err)
	}
	if none, err := maps.Get(t.Context(), c.Namespace, "lynqhub-m"); !apierrors.IsNotFound(err) || none != nil {
		t.Errorf("after the delete: %v, %v", none, err)
	}
}

func TestLeases(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	leases := c.Leases()
	holder, seconds := "one", int32(15)
	made, err := leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "l"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := leases.Get(t.Context(), c.Namespace, "l")
	if err != nil || *got.Spec.HolderIdentity != "one" {
		t.Fatalf("%v, %v", got, err)
	}
	holder = "two"
	got.Spec.HolderIdentity = &holder
	if got, err = leases.Update(t.Context(), got); err != nil || *got.Spec.HolderIdentity != "two" {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := leases.Update(t.Context(), made); !apierrors.IsConflict(err) {
		t.Errorf("an update of what changed: %v, want a conflict", err)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	about := corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: c.Namespace, Name: "lynqhub-m"}
	err := c.Event(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "e"}, InvolvedObject: about,
		Type: corev1.EventTypeWarning, Reason: "Degraded", Message: "why",
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Equal(t, "event/e", ".message", "why")
}

// TestWarnings wants each of the server's warnings once.
func TestWarnings(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	var said []string
	client, err := kube.Access{Kubeconfig: env.Kubeconfig}.Client(kube.Options{Warn: func(text string) { said = append(said, text) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		body := jsonOf(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "dat": map[string]any{}})
		if _, err := client.Write(t.Context(), configMaps, create(env.Namespace, name, body)); err != nil {
			t.Fatal(err)
		}
	}
	if len(said) != 1 || said[0] != `unknown field "dat"` {
		t.Errorf("warnings: %q", said)
	}
}

// permit returns the gate's permit for the hub record of a hub without nodes.
func permit(t *testing.T, cm *corev1.ConfigMap) decide.Permit {
	t.Helper()
	p, err := decide.PermitHub(&inventory.Hub{Name: "m", Namespace: cm.Namespace, UID: string(cm.UID), ResourceVersion: cm.ResourceVersion}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
