// Package gitops proves that targets keep a form's policies in the trees that lynqctl
// renders, with their own libraries on a real control plane.
//
// Rendered trees flow in, changes of a cluster flow out. For Flux, it uses fluxcd/pkg/ssa
// and fluxcd/pkg/kustomize, of which kustomize-controller consists, and for Argo CD its
// gitops-engine. The tests do what those controllers do around them, and no more.
//
// It is a module of its own, so that lynqctl gets none of its dependencies. It contains
// only tests.
package gitops
