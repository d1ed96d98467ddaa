// Package grace decides how long a node is kept after its row has gone (deletionGracePeriod).
//
// Two records have the time at which a run first saw the row gone: the node's inventory and
// the record of its hub. The later one counts, and where one of them is missing, the time
// begins anew. So who may write only one of them can keep a node longer, and never shorter.
// The package is pure.
package grace
