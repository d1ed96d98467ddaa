// Package console connects a command to its World. It has the streams as the flags want
// them, the View that shows runs, and the errors that say how a run stopped.
//
// A World and flags flow in, streams and Views flow out. The package never uses the streams
// of the process itself.
package console
