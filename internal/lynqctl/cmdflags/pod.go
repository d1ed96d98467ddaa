package cmdflags

import (
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
)

// PodArgs are the flags that were given, as a pod is to have them: without a command's own,
// and without those that are about this machine, such as files and the kubeconfig.
func PodArgs(flags *pflag.FlagSet, own []string) []string {
	here := append([]string{"filename", "recursive", "tombstones", "color", "quiet"}, own...)
	Cluster().VisitAll(func(flag *pflag.Flag) { here = append(here, flag.Name) })
	return cli.Given(flags, here)
}
