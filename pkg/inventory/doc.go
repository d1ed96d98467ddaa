// Package inventory records the objects that a node owns.
//
// A node's inventory is one ConfigMap, which replaces the operator's LynqNode. A hub has a
// record in another one. This package converts both to and from ConfigMaps, and computes
// which objects join and leave a node. The linter ensures that it does no IO. Package
// store loads and saves ConfigMaps. Package lease prevents two runs on one hub.
package inventory
