// Package marks tells from the labels, annotations and field managers of an object which
// other tool owns it: Flux, Argo CD, Fleet, Rancher, Config Sync, OLM, Crossplane, kapp,
// cli-utils or Helm.
//
// In flows the metadata of one object. Out flow the name of its owner, and the keys that a
// takeover removes. The package reads nothing, and decides nothing about the object.
package marks
