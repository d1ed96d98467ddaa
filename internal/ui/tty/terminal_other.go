//go:build !windows

package tty

import "golang.org/x/term"

// draws tells whether fd is a terminal that understands cursor movements and colours.
// One that TERM does not name may not.
func draws(name string, fd int) bool {
	return name != "" && name != "dumb" && term.IsTerminal(fd)
}
