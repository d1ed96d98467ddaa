// Package console is what a command talks to: the streams of its World as flags want them,
// the View that shows its runs, and the errors that say how a run was stopped.
package console
