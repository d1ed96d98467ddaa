package kube_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// quoting returns a client of a server that warns, and refuses everything with a Status
// that quotes a value. warned returns the warnings.
func quoting(t *testing.T, status string, secrets ...string) (client *kube.Client, warned func() string) {
	t.Helper()
	return answering(t, answered{http.StatusUnprocessableEntity, status, "hunter2! is weak"}, secrets...)
}

// answered is the answer to each request.
type answered struct {
	code          int
	body, warning string
}

// RoundTrip implements http.RoundTripper.
func (a answered) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Warning", fmt.Sprintf("299 - %q", a.warning))
	w.WriteHeader(a.code)
	_, _ = w.WriteString(a.body) // a recorder never fails
	response := w.Result()
	response.Request = r
	return response, nil
}

// answering works like quoting, with any answer.
func answering(t *testing.T, a answered, secrets ...string) (client *kube.Client, warned func() string) {
	t.Helper()
	var warnings []string
	client, err := kube.NewClient(&rest.Config{Host: "http://memory"}, kube.Options{Transport: a, Warn: func(text string) { warnings = append(warnings, text) }, Secrets: redact.New(secrets...)})
	if err != nil {
		t.Fatal(err)
	}
	return client, func() string { return strings.Join(warnings, "\n") }
}

// invalid is a Status about an invalid value of a field, and about a field that can't
// change.
const invalid = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,
	"message":"ConfigMap \"db\" is invalid: data.a: Invalid value: \"hunter2!\": is bad, data.b: Invalid value: \"7x\": field is immutable",
	"details":{"name":"db","kind":"ConfigMap","causes":[
		{"reason":"FieldValueInvalid","message":"Invalid value: \"hunter2!\": is bad","field":"data.a"},
		{"reason":"FieldValueInvalid","message":"Invalid value: \"7x\": field is immutable","field":"data.b"}]}}`

// TestErrorsAreMasked wants errors and warnings to hide the secret values of the run, and nothing
// else.
func TestErrorsAreMasked(t *testing.T) {
	client, warned := quoting(t, invalid, "hunter2!", "7x")
	_, err := client.Write(t.Context(), configMaps, write.Request{Verb: write.Create, Namespace: "shop", Name: "db", Body: []byte("{}")})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), `data.a: Invalid value: "•••": is bad, data.b: Invalid value: "•••": field is immutable`) {
		t.Error(err)
	}
	if p := write.ProblemOf(err); p.Kind != write.ProblemImmutable || strings.Join(p.Paths, " ") != "data.b" {
		t.Errorf("problem %+v", p)
	}
	if got := warned(); got != "••• is weak" {
		t.Errorf("warned of %q", got)
	}
	client, _ = quoting(t, invalid)
	_, err = client.Write(t.Context(), configMaps, write.Request{Verb: write.Create, Namespace: "shop", Name: "db", Body: []byte("{}")})
	if err == nil || !strings.Contains(err.Error(), "hunter2!") {
		t.Errorf("without secrets: %v", err)
	}
}

// TestMessagesAreHidden wants errors about a hidden object to have only reasons and fields,
// and whether a field can't change.
func TestMessagesAreHidden(t *testing.T) {
	client, _ := quoting(t, invalid)
	_, err := client.Write(redact.HideMessages(t.Context()), configMaps, write.Request{Verb: write.Create, Namespace: "shop", Name: "db", Body: []byte("{}")})
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "7x") || !strings.Contains(err.Error(), "it is about data.a (FieldValueInvalid), data.b (FieldValueInvalid)") {
		t.Error(err)
	}
	if p := write.ProblemOf(err); p.Kind != write.ProblemImmutable || strings.Join(p.Paths, " ") != "data.b" {
		t.Errorf("problem %+v", p)
	}
	if described := write.Describe(lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "db"}, err); strings.Contains(described, "hunter2") || !apierrors.IsInvalid(err) {
		t.Errorf("described as %s", described)
	}
}

// TestAnswersAreHidden: of a Secret, and of a hidden object, no answer and no warning is
// quoted, whatever its status and reason.
func TestAnswersAreHidden(t *testing.T) {
	const denials = `admission webhook \\"w.example.com\\" denied the request: hunter2 cannot get resource \\"x\\"`
	const policy = `x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: hunter2`
	any := []metav1.StatusReason{"", "Own", metav1.StatusReasonBadRequest, metav1.StatusReasonInvalid, metav1.StatusReasonForbidden, metav1.StatusReasonGone, metav1.StatusReasonMethodNotAllowed}
	named := []metav1.StatusReason{metav1.StatusReasonConflict, metav1.StatusReasonAlreadyExists, metav1.StatusReasonNotFound, metav1.StatusReasonUnauthorized, metav1.StatusReasonTimeout}
	for _, code := range []int{400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 451} {
		for _, reason := range append(slices.Clone(any), named...) {
			for _, message := range []string{denials, policy} {
				hides(t, answered{code, statusOf(code, reason, message), "hunter2! is weak"})
			}
		}
		for _, reason := range any { // the server makes messages with other reasons from names
			hides(t, answered{code, statusOf(code, reason, "is hunter2"), "hunter2! is weak"})
		}
		hides(t, answered{code, "<html>hunter2</html>", "hunter2! is weak"})
	}
}

func statusOf(code int, reason metav1.StatusReason, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"%s","details":{"name":"db","kind":"x"}}`, reason, code, message)
}

// hides wants an answer to quote no hidden object and no Secret.
func hides(t *testing.T, a answered) {
	t.Helper()
	client, warned := answering(t, a)
	secrets := lynq.APIResource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
	for ctx, r := range map[context.Context]lynq.APIResource{redact.HideMessages(t.Context()): configMaps, t.Context(): secrets} {
		_, err := client.Write(ctx, r, write.Request{Verb: write.Create, Namespace: "shop", Name: "db", Body: []byte("{}")})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s, %v: %v", r.Plural, a, err)
		}
	}
	if text := warned(); strings.Contains(text, "hunter2") || !strings.Contains(text, "hidden") {
		t.Errorf("warned of %q", text)
	}
}

// TestVersionWarning shows a warning about the version of a hidden object.
func TestVersionWarning(t *testing.T) {
	const warning = "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget"
	client, warned := answering(t, answered{http.StatusUnprocessableEntity, invalid, warning})
	_, _ = client.Write(redact.HideMessages(t.Context()), configMaps, write.Request{Verb: write.Create, Namespace: "shop", Name: "db", Body: []byte("{}")}) // it fails
	if got := warned(); got != warning {
		t.Errorf("warned of %q", got)
	}
}
