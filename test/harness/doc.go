// Package harness gives tests a real cluster: one for each test binary, which starts at the
// first use. Each test has its own namespaces.
//
// A test package declares one Shared and asks it for an Env in every test:
//
//	var cluster harness.Shared
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		env := cluster.Env(t)
//		env.Kubectl(t, manifest, "apply", "-f", "-")
//		env.Wait(t, "deployment/web", harness.ConditionTrue("Available"))
//	}
//
// The environment chooses the cluster:
//
//   - LYNQCTL_TEST_KUBECONFIG names a kubeconfig: harness uses that cluster
//   - the command share of test/cluster set LYNQCTL_TEST_SHARED: harness uses its cluster,
//     except for a Shared that wants its own
//   - the programs of test/cluster are built, or KUBEBUILDER_ASSETS names a directory with
//     them: harness starts a cluster
//   - LYNQCTL_TEST_CLUSTER=1 or CI=true: harness builds them first
//   - otherwise harness skips the test, and says what is missing
//
// Manifests and commands flow in, objects and outputs flow out. The cluster ends with the
// test binary, however that ends. The package never stops a cluster that it didn't start.
package harness
