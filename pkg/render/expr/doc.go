// Package expr compiles the strings of a form, and runs them for rows.
//
// A Compiler checks each string, and adds it to a Set: as parts, which are bytes and
// columns, or as a template for the interpreter. An Evaluator takes one row after the
// other, and gives the text of each expression. Results that are words are neither put
// together nor checked: their parts are written as they are.
//
// Strings and rows flow in; texts, findings and errors flow out. The package knows
// nothing of manifests and resources, and reads no file.
package expr
