package applycmd

import (
	"runtime/debug"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

const (
	// manyObjects need so much memory that a run saves some of it.
	manyObjects = 20_000
	// goDefault is Go's value of GOGC. With 50 000 objects, savingMemory saves 10 of 190 MiB
	// and costs up to 5 % of the time.
	goDefault, savingMemory = 100, 75
)

// saveMemory collects garbage earlier if there are many objects. A GOGC of the user stays.
func saveMemory(nodes []*plan.Node) {
	objects := 0
	for _, n := range nodes {
		objects += len(n.Objects)
	}
	if objects < manyObjects {
		return
	}
	if before := debug.SetGCPercent(savingMemory); before != goDefault {
		debug.SetGCPercent(before)
	}
}
