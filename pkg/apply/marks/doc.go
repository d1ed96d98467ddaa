// Package marks finds out which other tool owns an object, from its labels, annotations and
// field managers. It knows Flux, Argo CD, Fleet, Rancher, Config Sync, OLM, Crossplane,
// kapp, cli-utils and Helm.
//
// In flows the metadata of one object. Out flow the name of its owner, and the keys that a
// takeover removes. The package reads nothing, and decides nothing about the object.
package marks
