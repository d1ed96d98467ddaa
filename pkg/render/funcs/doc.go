// Package funcs holds the functions that templates may call, and the budget they draw on.
//
// The functions are sprig's and Lynq's own, without those whose results hang on the
// machine. A value flows in, and a value or an error flows out; where the value may be a
// secret, the error can also be told without it. A Meter counts the steps and bytes of
// one evaluation and never looks at a clock, so that a template that renders here renders
// everywhere. The package knows no forms and no rows.
package funcs
