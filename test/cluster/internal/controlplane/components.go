package controlplane

import (
	"strconv"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
)

// component is one program of the control plane and how it is called.
type component struct {
	name string // as in package binaries
	args []string
}

// clientRate, in requests a second, and clientBurst lift the limits that
// controllers put on themselves, or a test of 1 000 objects would wait for them.
const (
	clientRate  = "2000"
	clientBurst = "4000"
)

// collectLess has a program collect its garbage less often, for more memory: a sixth of the
// API server's time went into that, and it is most of what tests of a cluster calculate.
const collectLess = "GOGC=400"

// storage is what runs before the API server.
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
		"--unsafe-no-fsync",   // no one needs the data after a crash
	}}
}

// apiServer is the API server with its defaults, but for three admission
// plugins: no pod needs a service account, and no controller watches over the
// node, so nothing may hold pods off it until a person has. Who sets an owner
// reference must have the rights that OpenShift wants of him.
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
		"--endpoint-reconciler-type=none", // a loopback address is no valid endpoint
		"--allow-privileged",
		"--audit-policy-file=" + l.auditPolicy(),
		"--audit-log-path=" + l.auditLog(),
		"--audit-log-mode=batch",
		"--profiling=false",
	}}
}

// controllers are what runs once the API server answers.
func controllers(l layout) []component {
	return []component{
		{binaries.ControllerManager, []string{
			"--kubeconfig=" + l.kubeconfig(),
			"--leader-elect=false",
			"--secure-port=0",
			"--root-ca-file=" + l.caCert(),
			"--service-account-private-key-file=" + l.serviceAccountKey(),
			// Nothing measures load here, and a busy machine must not make the
			// node look dead.
			"--controllers=*,-horizontal-pod-autoscaler-controller,-node-lifecycle-controller",
			"--kube-api-qps=" + clientRate,
			"--kube-api-burst=" + clientBurst,
			"--concurrent-namespace-syncs=20",
			"--pvclaimbinder-sync-period=1s",
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
			"--node-lease-duration-seconds=0", // the controller that wants leases is off
		}},
	}
}
