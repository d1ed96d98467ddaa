package fields

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/sites"
)

// reclaimedObject returns an object with writes of kubectl, Helm, a user and a controller.
func reclaimedObject(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: sites.Parse(t, `
apiVersion: v1
kind: Secret
metadata:
  resourceVersion: "7"
  managedFields:
  - {manager: lynq, operation: Apply, apiVersion: v1, fieldsV1: {"f:data": {"f:ours": {}}}}
  - {manager: kubectl-client-side-apply, operation: Update, apiVersion: v1, fieldsV1: {"f:stringData": {"f:text": {}}, "f:metadata": {"f:finalizers": {".": {}, "v:\"keep\"": {}}, "f:ownerReferences": {".": {}, "k:{\"uid\":\"u\"}": {}}, "f:labels": {"f:left": {}, "f:said": {}}}}}
  - {manager: helm, operation: Apply, apiVersion: v1, fieldsV1: {"f:data": {"f:chart": {}}}}
  - {manager: helm, operation: Update, apiVersion: v1beta1, fieldsV1: {"f:data": {"f:older": {}}}}
  - {manager: kubectl-edit, operation: Update, apiVersion: v1, fieldsV1: {"f:data": {"f:person": {}}}}
  - {manager: flux, operation: Apply, apiVersion: v1, fieldsV1: {"f:data": {"f:applier": {}}}}
  - {manager: helm, operation: Update, subresource: scale, apiVersion: v1, fieldsV1: {"f:data": {"f:scaled": {}}}}
`)}
}

// TestReclaim checks that fields of client-side tools move to lynq's apply, so that the
// next apply removes them. Finalizers and owners don't move, nor do fields of others or of
// another version.
func TestReclaim(t *testing.T) {
	patch, err := UpgradePatch(reclaimedObject(t), true)
	if err != nil {
		t.Fatal(err)
	}
	text := string(patch)
	for _, want := range []string{
		`{"manager":"lynq","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{"f:chart":{},"f:ours":{},"f:text":{}},"f:metadata":{"f:labels":{"f:left":{},"f:said":{}}},"f:stringData":{"f:text":{}}}}`,
		`"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"keep\"":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}}}}`,
		`"manager":"helm","operation":"Update","apiVersion":"v1beta1","fieldsV1":{"f:data":{"f:older":{}}}`, `{"f:data":{"f:person":{}}}`, `{"f:data":{"f:applier":{}}}`, `{"f:data":{"f:scaled":{}}}`,
		`"value":"7"`,
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		})
	}
	if without, err := UpgradePatch(reclaimedObject(t), false); err != nil || without != nil {
		t.Errorf("without override: %s, %v", without, err)
	}
}

// TestReclaimed checks that the notes name fields that vanish, and no fields of the form.
func TestReclaimed(t *testing.T) {
	got, err := Reclaimed(reclaimedObject(t), sites.Parse(t, `metadata: {labels: {said: "1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `.data.chart from "helm", .data.text and .metadata.labels.left from "kubectl-client-side-apply"`
	if text := Describe(got); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
