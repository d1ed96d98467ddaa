package tty

import (
	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

// draws tells whether fd is a console that understands cursor movements and colours,
// and has it do so: since Windows 10 a console does when it is asked to. TERM is not
// set there, but by shells that come from elsewhere.
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
