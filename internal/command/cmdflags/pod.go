package cmdflags

import (
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
)

// PodArgs returns the given flags for a pod. It drops the command's own flags, and those
// about this machine, such as files and the kubeconfig.
func PodArgs(flags *pflag.FlagSet, own []string) []string {
	here := append([]string{"filename", "recursive", "tombstones", "color", "quiet"}, own...)
	Cluster().VisitAll(func(flag *pflag.Flag) { here = append(here, flag.Name) })
	return cli.Given(flags, here)
}
