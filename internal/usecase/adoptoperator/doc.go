// Package adoptoperator is the use case of lynqctl adopt-operator: it takes live nodes over
// from the Lynq operator.
//
// Options and the operator's objects flow in. Inventories and hub records flow out, and
// changed metadata of the nodes' objects. The package never changes the content of those
// objects.
package adoptoperator
