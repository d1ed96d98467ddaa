//go:build !windows

package tty

import "golang.org/x/term"

// draws reports whether fd is a terminal that supports cursor movements and colours.
// Without TERM, it counts as one that doesn't.
func draws(name string, fd int) bool {
	return name != "" && name != "dumb" && term.IsTerminal(fd)
}
