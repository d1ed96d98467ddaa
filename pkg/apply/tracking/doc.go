// Package tracking reads an object's metadata. It finds out which node the object belongs
// to, who else claims it, and which of its fields lynqctl manages.
//
// LiveOf extracts the part that a run keeps. The metadata of one object flows in, and a
// Live flows out. The package reads no cluster, and never decides.
package tracking
