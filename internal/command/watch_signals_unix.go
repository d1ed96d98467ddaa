//go:build !windows

package command

import (
	"os"
	"syscall"
)

// reloadSignals returns the signals that make watch read its inputs again.
func reloadSignals() []os.Signal { return []os.Signal{syscall.SIGHUP} }
