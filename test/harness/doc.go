// Package harness gives tests a real cluster: one for each test binary, started
// at the first use, and namespaces of its own to each test.
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
// Which cluster it is depends on the environment:
//
//   - LYNQCTL_TEST_KUBECONFIG names a kubeconfig: that cluster is used
//   - the programs of test/cluster are built, or KUBEBUILDER_ASSETS names a
//     directory with them: a cluster is started
//   - LYNQCTL_TEST_CLUSTER=1 or CI=true: they are built first
//   - else the test is skipped, with a message that says what is missing
//
// The cluster ends with the test binary, however that ends.
package harness
