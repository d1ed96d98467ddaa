// Package edits finds out which commits changed a form since lynqctl recorded it.
//
// Versions of a form's file and a record flow in, an Edit flows out. The package loads and
// compiles each version as lynqctl does, until one makes what was recorded. It never guesses:
// without such a version there is no Edit. It reads nothing itself.
package edits
