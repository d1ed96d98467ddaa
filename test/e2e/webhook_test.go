package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
	admissionv1 "k8s.io/api/admission/v1"
)

// webhook PATCH serves a mutating webhook for ConfigMaps of the namespace with
// data.registry. It applies the JSON patch in the file PATCH.
func (s *script) webhook(ts *testscript.TestScript, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: webhook PATCH")
	}
	server := httptest.NewTLSServer(patching([]byte(ts.ReadFile(args[0]))))
	s.t.Cleanup(server.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	// The namespace owns the configuration, and takes it along.
	namespace := s.env.Get(s.t, "namespace/"+s.env.Namespace)
	s.env.Kubectl(s.t, fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
		"metadata": {"name": %[1]q, "ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": %[1]q, "uid": %[2]q}]},
		"webhooks": [{"name": "test.lynq.sh", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
			"clientConfig": {"url": %[3]q, "caBundle": %[4]q},
			"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": %[1]q}},
			"matchConditions": [{"name": "registry", "expression": "has(object.data) && 'registry' in object.data"}],
			"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}]}]}`,
		s.env.Namespace, namespace.GetUID(), server.URL, base64.StdEncoding.EncodeToString(bundle)), "create", "-f", "-")
	return nil
}

// patching answers every review with a patch.
func patching(patch []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		kind := admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: &kind}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&review) // the API server reports a missing answer
	})
}
