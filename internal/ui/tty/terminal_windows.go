package tty

import (
	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

// draws reports whether fd is a console that supports cursor movements and colours, and
// enables them. Consoles can do this since Windows 10, but only on request. On Windows,
// only shells from other systems set TERM.
func draws(name string, fd int) bool {
	if name == "dumb" || !term.IsTerminal(fd) {
		return false
	}
	console := windows.Handle(fd) //nolint:gosec // a handle, which came as the number that it is
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	const wanted = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&wanted == wanted || windows.SetConsoleMode(console, mode|wanted) == nil
}
