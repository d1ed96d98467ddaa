// Package ui tells people and scripts what a run does: a view that moves on a
// terminal, lines in a log, JSON events in a pipe, and a report at the end.
//
// NewReporter chooses among them. What a Reporter is told by the run goes to
// standard error as progress, or to standard output as one JSON event per line
// (docs/events.md). When the run is over, Result prints its report on standard
// output; Plan prints what a dry run would do, and Refuse why a guard refused.
//
// Package list prints what commands found, in each format. Package views fills its lists.
//
// Package tty has the streams that all of this is written to. It escapes whatever does not
// print, so that no text can move the cursor, change colours or forge lines.
//
// Styles, columns and trees are drawn by lipgloss. Its import asks the terminal for its
// colours before main begins, and inside tmux it starts a process for that: 4 ms, and
// nothing where the output is a pipe.
package ui
