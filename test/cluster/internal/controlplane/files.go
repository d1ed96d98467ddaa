package controlplane

import (
	"embed"
	"fmt"
	"os"
	"time"
)

// manifests are the first objects of a cluster.
//
//go:embed manifests/*.yaml
var manifests embed.FS

// seed returns the manifests to create in the cluster, with their API paths.
func seed() []struct{ file, path string } {
	return []struct{ file, path string }{
		{"manifests/node.yaml", "/api/v1/nodes"},
		{"manifests/storageclass-standard.yaml", "/apis/storage.k8s.io/v1/storageclasses"},
		{"manifests/storageclass-wait.yaml", "/apis/storage.k8s.io/v1/storageclasses"},
	}
}

// writeFiles writes every file for the programs, and returns a client for the
// administrator.
func writeFiles(l layout, now time.Time) (*client, error) {
	keys, err := newPKI(now)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	users := newUsers()
	config, err := kubeconfig(l.apiServerURL(), keys.caCert, users)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	policy, err := manifests.ReadFile("manifests/audit-policy.yaml")
	if err != nil {
		return nil, err
	}
	stages, err := manifests.ReadFile("manifests/stages.yaml")
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{l.dir, l.logs(), l.path("pki"), l.etcdData()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		path string
		data []byte
	}{
		{l.caCert(), keys.caCert},
		{l.serverCert(), keys.serverCert},
		{l.serverKey(), keys.serverKey},
		{l.serviceAccountKey(), keys.serviceAccountKey},
		{l.tokens(), tokenFile(users)},
		{l.kubeconfig(), config},
		{l.auditPolicy(), policy},
		{l.stages(), stages},
	} {
		if err := os.WriteFile(f.path, f.data, 0o600); err != nil {
			return nil, err
		}
	}
	return newClient(l.apiServerURL(), keys.caCert, users[0].Token)
}
