// Package model says what lynqctl may do to the objects of a cluster. It is the oracle of
// the random driver in test/robust.
//
// Hubs, forms, rows and two pictures of a cluster flow in. The names of all objects flow
// out that a command deleted or changed without permission.
//
// The package follows the contract (when lynqctl deletes an object). It imports no code of
// lynqctl, so that both can't have the same mistake.
package model
