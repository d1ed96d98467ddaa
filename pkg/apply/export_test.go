package apply

import "github.com/lynqctl/lynqctl/test/harness"

// ClusterOfTests returns the cluster of this package's tests.
func ClusterOfTests() *harness.Shared { return &trackedCluster }
