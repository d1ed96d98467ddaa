// Package robust is a random driver for lynqctl. It runs the real lynqctl against a real
// control plane, and changes rows, forms and objects like users and strangers. After each
// step, it compares the cluster with a model, which is package model beside it.
//
// Seeds flow in, violations flow out. A history is a list of steps, one line of text each.
// A seed always gives the same history. A line doesn't depend on earlier lines, so a
// history with fewer lines is a history, too. That is how the driver shortens a violation.
//
//	make robust                        2 000 steps with a new seed
//	make robust STEPS=200 SEED=7       200 steps from seed 7
//	make robust-memory STEPS=100000    the same in memory
//	make robust-points                 a fault at each request of each command
//	make robust-points-cluster         1 000 of these faults on a real control plane
//	make robust-states                 random states that runs must repair
//	make robust-broken                 thirteen broken promises that the driver must find
//
// In memory, lynqctl runs in the test's process, with an API server of package apiserver,
// and a clock that skips every pause. A test that passes there must also pass on a real
// control plane, with fewer histories.
//
// Environment:
//
//   - LYNQCTL_ROBUST_STEPS: the number of steps (60)
//   - LYNQCTL_ROBUST_MEMORY_STEPS: the number of steps in memory (480)
//   - LYNQCTL_ROBUST_LENGTH: the number of steps of a history (60)
//   - LYNQCTL_ROBUST_SEED: the first history's seed; each further one has the next seed (1)
//   - LYNQCTL_ROBUST_POINTS: all, for every point of TestPoints
//   - LYNQCTL_ROBUST_CLUSTER_POINTS: the number of points of TestPointsOnCluster (5)
//   - LYNQCTL_ROBUST_STATES: the number of states in which TestConvergence begins (48)
//   - LYNQCTL_ROBUST_BROKEN: set, for TestBroken
//   - LYNQCTL_ROBUST_SHRINK: the number of tries to shorten a violation (0)
//
// The histories in testdata are violations of earlier versions. Each runs as a test. The
// package contains only tests.
package robust
