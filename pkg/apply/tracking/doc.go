// Package tracking says what an object's metadata tells of it: which node it belongs to, who
// else claims it, and which of its fields lynqctl manages.
//
// LiveOf takes from metadata what a run keeps of an object. In flows the metadata of one
// object, and out flows a Live. The package reads nothing, and decides nothing.
package tracking
