package list_test

import (
	"io"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// streamTo returns a stream that writes to w, with the abilities of another stream. A
// terminal has all of them.
func streamTo(w io.Writer, s tty.Stream) tty.Stream {
	to := tty.NewStream(tty.To(w), func(string) string { return "" }, tty.ColorNever)
	to.Terminal, to.Interactive, to.Color, to.Size = s.Terminal, s.Terminal, s.Color, s.Size
	return to
}
