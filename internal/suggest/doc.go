// Package suggest finds the word that a mistyped one was probably meant to be.
package suggest
