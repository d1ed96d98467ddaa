// Package extdiff shows differences with another program, as kubectl diff does. The program
// gets two directories, one with the live objects and one with the objects after apply.
//
// A report flows in. Temporary files flow out, and the output of that program. The package
// deletes the files afterwards, and never writes values of Secrets to them.
package extdiff
