// Package grace decides how long lynqctl keeps a node without a row (deletionGracePeriod).
//
// A run records when it first saw that the row is gone, in the node's inventory and in the
// hub record. The later time counts. If one of them is missing, the period begins again. So
// somebody who may write only one of them can keep a node longer, but never shorter.
//
// Both records flow in. The start of the period and the next hub record flow out. The
// package is pure. It never deletes a node.
package grace
