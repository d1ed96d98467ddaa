package main

import (
	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/kube"
)

// clusterFlags are those of kubectl's flags that say which cluster and which
// namespace are meant.
type clusterFlags struct {
	namespace string
	access    kube.Access
}

func (c *clusterFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.namespace, "namespace", "n", "", "namespace of the nodes, whatever the inputs say")
	f.StringVar(&c.access.Kubeconfig, "kubeconfig", "", "kubeconfig, asked only for what the inputs do not have: a namespace, a Secret with a password")
	f.StringVar(&c.access.Context, "context", "", "context of the kubeconfig")
}

// registerAll registers kubectl's flags, for commands that write to a cluster.
func (c *clusterFlags) registerAll(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.namespace, "namespace", "n", "", "namespace of the nodes, whatever the inputs say")
	c.access.Register(f)
}
