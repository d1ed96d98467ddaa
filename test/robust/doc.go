// Package robust is a random driver: it runs the real lynqctl against a real control
// plane, changes rows, forms and objects as users and strangers do, and compares the
// cluster with a model after each step. The model is package model beside it.
//
// A history is a list of steps, one line of text each. A seed gives the same history
// again; a line of a history doesn't depend on the lines before it, so that a history
// stays one when lines are taken out. That is how a violation gets its shortest history.
//
//	make robust                        2 000 steps with a new seed
//	make robust STEPS=200 SEED=7       200 steps from seed 7
//	make robust-memory STEPS=100000    the same in memory
//	make robust-points                 a fault at each request of each command
//	make robust-states                 random states that runs must put right
//	make robust-broken                 eight broken promises that the driver must find
//
// In memory, lynqctl runs in the test's process, against an API server of package
// apiserver, and a clock that jumps over every pause. What passes there also has to pass
// on a real control plane, by fewer histories.
//
// Environment:
//
//   - LYNQCTL_ROBUST_STEPS: how many steps (60)
//   - LYNQCTL_ROBUST_MEMORY_STEPS: how many steps in memory (480)
//   - LYNQCTL_ROBUST_SEED: of the first history; each further one has the next seed (1)
//   - LYNQCTL_ROBUST_POINTS: all, for every point of TestPoints
//   - LYNQCTL_ROBUST_STATES: how many states TestConvergence begins in (48)
//   - LYNQCTL_ROBUST_BROKEN: set, for TestBroken
//   - LYNQCTL_ROBUST_SHRINK: how often the shortest history of a violation is tried for (0)
//
// The histories in testdata are violations of earlier versions. Each runs as a test.
package robust
