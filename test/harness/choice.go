package harness

import "fmt"

// The environment variables that choose the cluster.
const (
	EnvKubeconfig = "LYNQCTL_TEST_KUBECONFIG"
	EnvCluster    = "LYNQCTL_TEST_CLUSTER"
	envShared     = "LYNQCTL_TEST_SHARED"
	envAssets     = "KUBEBUILDER_ASSETS"
	envCI         = "CI"
)

// choice says which cluster the tests get. Exactly one field is set.
type choice struct {
	kubeconfig string   // of a cluster that someone else runs
	shared     string   // a file about the cluster that several test binaries share
	run        []string // arguments of the cluster command
	skip       string   // why there is none
}

// choose decides from the environment, and from built: whether the cache of built programs
// is complete. A Shared that wants its own cluster never gets the one that others share.
func choose(getenv func(string) string, own bool, cache string, built bool) choice {
	switch {
	case getenv(EnvKubeconfig) != "":
		return choice{kubeconfig: getenv(EnvKubeconfig)}
	case getenv(envShared) != "" && !own:
		return choice{shared: getenv(envShared)}
	case getenv(EnvCluster) == "1" || getenv(envCI) == "true":
		return choice{run: []string{"run", "-build"}}
	case built || getenv(envAssets) != "":
		return choice{run: []string{"run"}}
	default:
		return choice{skip: fmt.Sprintf("no cluster to test on: the control plane is not built in %s; "+
			"build it with go -C test/cluster run . build, or set %s=1 to build it here, or %s to use a cluster that runs",
			cache, EnvCluster, EnvKubeconfig)}
	}
}
