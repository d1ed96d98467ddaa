//go:build !windows

package watchcmd

import (
	"os"
	"syscall"
)

// reloadSignals have the inputs of watch read again.
func reloadSignals() []os.Signal { return []os.Signal{syscall.SIGHUP} }
