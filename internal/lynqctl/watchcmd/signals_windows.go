package watchcmd

import "os"

// reloadSignals are none: Windows has no signal for it.
func reloadSignals() []os.Signal { return nil }
