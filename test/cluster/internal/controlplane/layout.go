package controlplane

import (
	"path/filepath"
	"strconv"
)

// layout has the paths and ports of a cluster.
type layout struct {
	dir   string
	ports ports
}

// ports are TCP ports on the loopback address.
type ports struct{ etcdClient, etcdPeer, apiServer int }

const loopback = "127.0.0.1"

func (l layout) path(elem ...string) string {
	return filepath.Join(append([]string{l.dir}, elem...)...)
}

func (l layout) caCert() string            { return l.path("pki", "ca.crt") }
func (l layout) serverCert() string        { return l.path("pki", "apiserver.crt") }
func (l layout) serverKey() string         { return l.path("pki", "apiserver.key") }
func (l layout) serviceAccountKey() string { return l.path("pki", "service-accounts.key") }
func (l layout) tokens() string            { return l.path("tokens.csv") }
func (l layout) auditPolicy() string       { return l.path("audit-policy.yaml") }
func (l layout) auditLog() string          { return l.path("logs", "audit.log") }
func (l layout) stages() string            { return l.path("stages.yaml") }
func (l layout) kubeconfig() string        { return l.path("kubeconfig") }
func (l layout) logs() string              { return l.path("logs") }
func (l layout) etcdData() string          { return l.path("etcd") }
func (l layout) log(component string) string {
	return l.path("logs", component+".log")
}

func (l layout) apiServerURL() string  { return "https://" + address(l.ports.apiServer) }
func (l layout) etcdClientURL() string { return "http://" + address(l.ports.etcdClient) }
func (l layout) etcdPeerURL() string   { return "http://" + address(l.ports.etcdPeer) }

func address(port int) string { return loopback + ":" + strconv.Itoa(port) }
