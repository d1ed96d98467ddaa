// Package reason names why a step of a plan is what it is: one word for each cause.
//
// Events, reports and scripts show these words. Package decide chooses one for each step.
package reason
