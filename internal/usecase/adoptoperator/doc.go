// Package adoptoperator is the use case of lynqctl adopt-operator: it takes live nodes over
// from the Lynq operator.
package adoptoperator
