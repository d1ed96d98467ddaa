package load

import (
	"context"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestCertificateOfOneVersion replaces a Secret with each reading of it, and wants a certificate
// and its key from the same version.
func TestCertificateOfOneVersion(t *testing.T) {
	version := 0
	p := Passwords{Cluster: func(_ context.Context, _, _ string, keys ...string) ([]endpoint.Secret, error) {
		version++
		var values []endpoint.Secret
		for _, key := range keys {
			values = append(values, endpoint.Secret(key+string(rune('0'+version))))
		}
		return values, nil
	}}
	hub := HubPrograms{Hub: &form.Hub{Namespace: "shop", Certificate: form.CertificateSource{SecretName: "client"}}}
	got, err := p.certificate(t.Context(), hub)
	if err != nil || got != "tls.crt1\ntls.key1" {
		t.Errorf("got %q, error %v", string(got), err)
	}
}
