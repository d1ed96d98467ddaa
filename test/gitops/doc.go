// Package gitops proves with the libraries of Flux and Argo CD, on a real
// control plane, that what lynqctl renders for them keeps the policies of a form:
// fluxcd/pkg/ssa and fluxcd/pkg/kustomize, which Flux's kustomize-controller
// consists of, and Argo CD's gitops-engine. The tests do around them what those
// controllers do, and no more.
//
// The module is apart from lynqctl's own, so that none of its dependencies
// reaches the product. It has no code but tests.
package gitops
