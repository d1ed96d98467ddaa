// Package fault says why rows cannot be read, for the person who can fix it.
//
// A place, a problem and its fix flow in; errors flow out. It also refuses rows
// that are longer than any object made of them. The package reads nothing but
// what its caller reads through RowLimit.
package fault
