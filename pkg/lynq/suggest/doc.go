// Package suggest finds the word that a user probably meant by a mistyped one.
//
// A word and candidates flow in, a suggestion flows out. The package never decides for the
// user.
package suggest
