// Package reason names the cause of a plan's step, one word for each cause.
//
// Package decide chooses a reason for each step. Events, reports and scripts show these
// words. The package has no logic of its own.
package reason
