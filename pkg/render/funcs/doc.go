// Package funcs has the functions for templates, and their budget.
//
// The functions are those of sprig and Lynq, except those whose results depend on the
// machine. They turn a value into a value or an error. An error has a form without the
// value, which may be secret. A Meter counts the steps and bytes of one evaluation, and
// never reads a clock. So a template that renders here renders everywhere. The package
// knows no forms and no rows.
package funcs
