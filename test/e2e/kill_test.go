package e2e_test

import "testing"

// TestKilled kills lynqctl before each of a command's writes in turn. Whenever that is,
// the next run that is left alone ends as one that nothing disturbed.
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
		"move-form-to-form": killedMove(formToForm),
		"move-hub-to-hub":   killedMove(hubToHub),
		"move-renamed-form": killedMove(renamedForm),
		"move-renamed-uid":  killedMove(renamedUID),
		"move-watched":      killedWatchedMove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prepare(t).run(t)
		})
	}
}

// kills are runs of a command, each of which is killed one write later than the one
// before.
type kills struct {
	*shop
	args []string // of the command
	// once runs the command, and kills it before a write, counted from 1, 0 for none. It tells
	// whether it did. Nil is for commands that end.
	once func(t *testing.T, write int) (killed bool)
	// least are fewer writes than a run sends that is left alone.
	least int
	// begin gives the nth run something to do.
	begin func(t *testing.T, n int)
	// left looks at what a run leaves, killed or not; nil where nothing is to be seen.
	left func(t *testing.T, killed bool)
	// wrong is what is not yet as it will be; for a command that doesn't end.
	wrong func(t *testing.T) []string
	// whole checks what has become of it at last.
	whole func(t *testing.T)
	// end checks what has become of all runs; may be nil.
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

// attempt runs the command, and kills it before a write, 0 for none.
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
