package command

import "os"

// reloadSignals returns none, because Windows has no signal for that.
func reloadSignals() []os.Signal { return nil }
