// Package extdiff has another program show differences, as kubectl diff does: it gets two
// directories, one with the objects as they are and one with them as they would be.
//
// A report flows in, files that are removed again and what that program writes flow out.
package extdiff
