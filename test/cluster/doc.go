// Command cluster builds and runs a real Kubernetes control plane for tests and trials:
// etcd, kube-apiserver, kube-controller-manager and kube-scheduler. kwok replaces kubelets,
// so workloads become ready although no container runs. The command needs Go, the module
// proxy, and a Unix.
//
//	go -C test/cluster run . build   build the programs (minutes, once)
//	go -C test/cluster run . up      start a cluster that stays
//	go -C test/cluster run . down    stop it
//	go -C test/cluster run . run     run one until standard input closes
//
// It is a module of its own, so that lynqctl gets none of its dependencies.
package main
