// Package expr compiles the strings of a form, and evaluates them for rows.
//
// A Compiler checks each string, and adds it to a Set. A string becomes parts, which are
// bytes and columns, or a template for the interpreter. An Evaluator loads one row after
// the other, and returns the text of each expression. If the values are simple words, it
// writes the parts without joining or checking them.
//
// The package takes strings and rows, and returns texts, findings and errors. It knows no
// manifests or resources, and reads no file.
package expr
