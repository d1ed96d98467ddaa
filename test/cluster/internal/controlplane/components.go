package controlplane

import (
	"strconv"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
)

// component is a program of the control plane with its arguments.
type component struct {
	name string // as in package binaries
	args []string
}

// clientRate, in requests a second, and clientBurst raise the limits that controllers set
// for themselves. A test with 1 000 objects would otherwise wait for them.
const (
	clientRate  = "2000"
	clientBurst = "4000"
)

// collectLess makes a program collect its garbage less often, for more memory. A sixth of
// the API server's time went into that, and the API server uses most of the processor in
// tests of a cluster.
const collectLess = "GOGC=400"

// storage returns the component that starts before the API server.
func storage(l layout) component {
	return component{binaries.Etcd, []string{
		"--name=test",
		"--data-dir=" + l.etcdData(),
		"--listen-client-urls=" + l.etcdClientURL(),
		"--advertise-client-urls=" + l.etcdClientURL(),
		"--listen-peer-urls=" + l.etcdPeerURL(),
		"--initial-advertise-peer-urls=" + l.etcdPeerURL(),
		"--initial-cluster=test=" + l.etcdPeerURL(),
		"--socket-reuse-port", // our reservation holds the port
		"--unsafe-no-fsync",   // nobody needs the data after a crash
	}}
}

// apiServer returns the API server with its defaults, except for three admission plugins.
// No pod needs a service account. No controller watches the node, so nothing may keep pods
// off it until a person does. A user who sets an owner reference needs the permissions that
// OpenShift requires.
func apiServer(l layout) component {
	return component{binaries.APIServer, []string{
		"--etcd-servers=" + l.etcdClientURL(),
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(l.ports.apiServer),
		"--permit-port-sharing", // our reservation holds the port
		"--tls-cert-file=" + l.serverCert(),
		"--tls-private-key-file=" + l.serverKey(),
		"--token-auth-file=" + l.tokens(),
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--service-account-issuer=" + l.apiServerURL(),
		"--service-account-key-file=" + l.serviceAccountKey(),
		"--service-account-signing-key-file=" + l.serviceAccountKey(),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--endpoint-reconciler-type=none", // a loopback address isn't a valid endpoint
		"--allow-privileged",
		"--audit-policy-file=" + l.auditPolicy(),
		"--audit-log-path=" + l.auditLog(),
		"--audit-log-mode=batch",
		"--profiling=false",
	}}
}

// controllers returns the components that start once the API server answers.
func controllers(l layout) []component {
	return []component{
		{binaries.ControllerManager, []string{
			"--kubeconfig=" + l.kubeconfig(),
			"--leader-elect=false",
			"--secure-port=0",
			"--root-ca-file=" + l.caCert(),
			"--service-account-private-key-file=" + l.serviceAccountKey(),
			// Nothing measures load here, and a busy machine must not make the node look
			// dead.
			"--controllers=*,-horizontal-pod-autoscaler-controller,-node-lifecycle-controller",
			"--kube-api-qps=" + clientRate,
			"--kube-api-burst=" + clientBurst,
			"--concurrent-namespace-syncs=20",
		}},
		{binaries.Scheduler, []string{
			"--kubeconfig=" + l.kubeconfig(),
			"--leader-elect=false",
			"--secure-port=0",
			"--kube-api-qps=" + clientRate,
			"--kube-api-burst=" + clientBurst,
		}},
		{binaries.Kwok, []string{
			"--kubeconfig=" + l.kubeconfig(),
			"--config=" + l.stages(),
			"--manage-all-nodes",
			"--cidr=10.128.0.0/9",
			"--node-ip=10.127.0.1",
			"--node-lease-duration-seconds=0", // the controller that needs leases is off
		}},
	}
}
