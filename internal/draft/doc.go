// Package draft makes a first hub and form for a table, for people to edit.
//
// Columns with samples of their values flow in. The texts of a hub and a form flow out,
// with the reasons. The package guesses the uid column, the activation column and the
// template variables from names and values. It says what it left out. It opens and writes
// no file, and puts no sample into its texts, except words that mean active or inactive.
package draft
