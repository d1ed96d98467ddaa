// Package ui shows people and scripts the progress and result of a run. It draws a moving
// view on a terminal, and writes lines in a log, or JSON events in a pipe.
//
// Events and results of a run flow in, text flows out. NewReporter chooses the format. A
// Reporter writes progress to standard error, or events to standard output, one JSON object
// per line (docs/events.md). At the end, Result prints the report on standard output. Plan
// prints what a dry run would do, and Refuse says why a guard refused.
//
// Package list prints what commands found, in each format. Functions such as
// RunList make its lists and details from the results of use cases: columns, the words of
// each cell, and the fields for JSON and YAML. A Log writes what a watch does.
//
// Package tty has the streams for all output. It escapes unprintable characters, so that no
// text can move the cursor, change colours or forge lines. This package never reads a
// cluster, and never decides what a run does.
//
// lipgloss draws styles, columns and trees. Its import asks the terminal for its colours
// before main begins. Inside tmux, it starts a process for that, which takes 4 ms. If the
// output is a pipe, it costs nothing.
package ui
