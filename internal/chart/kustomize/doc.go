// Package kustomize builds the kustomizations of forms, with the library of Kustomize.
//
// A directory or texts of files flow in, objects flow out, with the files that they come
// from. The library sees only files below the form's directory. The package refuses remote
// files and bases, Helm charts and plugins before the library reads them.
package kustomize
