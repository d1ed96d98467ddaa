// Package model says what lynqctl may do to the objects of a cluster. It is the oracle of
// the random driver in test/robust: it reads hubs, forms, rows and two pictures of a
// cluster, and names each object that a command deleted or changed without a right to.
//
// It follows the contract (when lynqctl deletes an object) and imports no code of lynqctl,
// so that both cannot have the same mistake.
package model
