// Package marks finds out which other tool owns an object, from its labels, annotations and
// field managers. Function marks has the tools that it knows.
//
// In flows the metadata of one object. Out flow the name of its owner, and the keys that a
// takeover removes. The package reads nothing, and decides nothing about the object.
package marks
