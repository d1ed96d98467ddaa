// Package layers tests who imports whom. docs/architecture.md and the imports of lynqctl's
// files flow in, and an import that the page doesn't permit fails the test.
//
// It has no other code.
package layers
