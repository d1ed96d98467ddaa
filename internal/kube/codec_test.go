package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestOpened checks that an envelope opens as runtime.Unknown opens it, with fields that
// lynqctl doesn't need, and that a cut one doesn't give another object.
func TestOpened(t *testing.T) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"key": "value"}}
	raw, err := cm.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	whole := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Raw: raw, ContentEncoding: "none", ContentType: "text"}
	envelope, err := whole.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for end := range envelope {
		var got corev1.ConfigMap
		var theirs runtime.Unknown
		kind, content, err := opened(envelope[:end])
		if wrong := theirs.Unmarshal(envelope[:end]); (wrong == nil) != (err == nil) {
			t.Fatalf("the first %d bytes: %v, and runtime.Unknown says %v", end, err, wrong)
		}
		if err == nil && (kind != theirs.Kind || string(content) != string(theirs.Raw)) {
			t.Errorf("the first %d bytes give %s %q, not %s %q", end, kind, content, theirs.Kind, theirs.Raw)
		}
		if decode(append([]byte(magic), envelope[:end]...), &got, "ConfigMap") == nil && cmp.Diff(cm, &got) != "" {
			t.Errorf("the first %d bytes are another object: %v", end, got)
		}
	}
	kind, content, err := opened(envelope)
	if err != nil || kind != "ConfigMap" || string(content) != string(raw) {
		t.Errorf("got %s %q, %v", kind, content, err)
	}
}
