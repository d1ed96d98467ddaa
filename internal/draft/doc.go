// Package draft makes the first hub and form for a table, for people to go on
// from.
//
// Columns with samples of their values flow in; which column is the uid, which
// tells what is active, and which template variable has which column flow out,
// and the texts of a hub and a form that say so. The package guesses from names
// and values, and says what it left out. It opens nothing and writes nothing,
// and no sample gets into what it makes.
package draft
