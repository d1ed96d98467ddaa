// Command cluster builds and runs a real Kubernetes control plane for tests
// and trials: etcd, kube-apiserver, kube-controller-manager, kube-scheduler,
// and kwok in the place of kubelets, so that workloads become ready although
// no container runs. It needs Go, the module proxy, and a Unix.
//
//	go -C test/cluster run . build   build the programs (minutes, once)
//	go -C test/cluster run . up      start a cluster that stays
//	go -C test/cluster run . down    stop it
//	go -C test/cluster run . run     run one until standard input closes
//
// The module is apart from lynqctl's own, so that none of its dependencies
// reaches the product.
package main
