package kube_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "hunter2! is weak"`)
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(status))
	}))
	t.Cleanup(server.Close)
	var warnings []string
	client, err := kube.NewClient(&rest.Config{Host: server.URL}, kube.Options{Warn: func(text string) { warnings = append(warnings, text) }, Secrets: redact.New(secrets...)})
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
