package e2e_test

import "testing"

// TestKilled kills lynqctl before each of a command's writes in turn. The next undisturbed
// run must end like one without a kill.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*testing.T) *kills{
		"apply-purge":       killedPurge,
		"apply-recreate":    killedRecreation,
		"apply-restore":     killedRestoration,
		"apply-stages":      killedStages(false),
		"apply-continue":    killedStages(true),
		"delete-hooks":      killedHooks,
		"delete-waves":      killedWaves,
		"adopt-operator":    killedHandover,
		"inventory-restore": killedInventoryRestore,
		"move-hub-to-hub":   killedMove,
		"move-watched":      killedWatchedMove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prepare(t).run(t)
		})
	}
}

// kills are runs of a command. Each is killed one write later than the one before.
type kills struct {
	*shop
	args []string // of the command
	// once runs the command, and kills it before a write, counted from 1, or 0 for none. It
	// reports whether it killed the command. nil is for commands that end.
	once func(t *testing.T, write int) (killed bool)
	// least is less than the number of writes in an undisturbed run.
	least int
	// begin gives the nth run something to do.
	begin func(t *testing.T, n int)
	// left checks the state after a run, killed or not. It may be nil.
	left func(t *testing.T, killed bool)
	// wrong returns what isn't right yet, for a command that doesn't end.
	wrong func(t *testing.T) []string
	// whole checks the final state.
	whole func(t *testing.T)
	// end checks the state after all runs. It may be nil.
	end func(t *testing.T)
}

func (k *kills) run(t *testing.T) {
	t.Helper()
	for n, killed := 1, true; killed; n++ {
		k.begin(t, n)
		k.proxy.Reset()
		killed = k.attempt(t, n)
		if k.left != nil {
			k.left(t, killed)
		}
		if killed {
			k.deleteLease(t)
			k.attempt(t, 0)
		}
		k.whole(t)
		if !killed && n <= k.least {
			t.Errorf("only %d runs were killed: one that is left alone has more writes", n-1)
		}
		if t.Failed() {
			t.Fatalf("after a kill before write %d", n)
		}
	}
	if k.end != nil {
		k.end(t)
	}
}

// attempt runs the command, and kills it before a write, or 0 for none.
func (k *kills) attempt(t *testing.T, write int) (killed bool) {
	t.Helper()
	switch {
	case k.once != nil:
		return k.once(t, write)
	case write == 0:
		k.start(t, k.args...).want(t, 0)
		return false
	}
	return k.killedBefore(t, write, k.args...)
}
