package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// keptInputs are hubs that keep their last good inputs, because files with documents of
// theirs have errors.
type keptInputs struct {
	hubs  []lynq.HubKey // as the files name them
	wrong lynq.Problems
}

// String tells people what is wrong, and what goes on.
func (k *keptInputs) String() string {
	names := make([]string, len(k.hubs))
	for i, h := range k.hubs {
		names[i] = h.String()
	}
	return fmt.Sprintf("%s %s the last good inputs until somebody repairs the files. Other hubs take the new inputs, and lynqctl deletes no data meanwhile: %v",
		shortList(names), keepKeeps(len(names)), k.wrong)
}

func keepKeeps(hubs int) string {
	if hubs == 1 {
		return "keeps"
	}
	return "keep"
}

// trouble is what the record of a hub has of it, nil for a hub with new inputs.
func (k *keptInputs) trouble(hub *form.Hub) []inventory.Trouble {
	if k == nil || !slices.Contains(k.hubs, hub.Key()) {
		return nil
	}
	message := fmt.Sprintf("files have errors, and watch uses the last good inputs of the hub until somebody repairs them: %s", k.wrong[0])
	if others := len(k.wrong) - 1; others > 0 {
		message += fmt.Sprintf(" (and %s)", phrase.Count(others, "other problem"))
	}
	return []inventory.Trouble{inventory.NewTrouble(inventory.TroubleInputs, message)}
}

// loadAround loads inputs of which some files have errors: hubs that such a file concerns
// stay as they are. wrong is what loading all of them gave, and the error if every hub has
// to stay.
func (w *watching) loadAround(ctx context.Context, o apply.Options, wrong error) (*apply.Loaded, *keptInputs, *form.Good, error) {
	told, _ := errors.AsType[lynq.Problems](wrong)
	bad := map[string]bool{}
	for problems := told; w.good != nil; {
		before := len(bad)
		for _, p := range problems {
			bad[p.Pos.File] = true
		}
		if len(bad) == before { // nothing else to leave out, or no problem of a file
			break
		}
		around, hubs, err := w.good.Around(o.Inputs.Paths, o.Inputs.Recursive, bad)
		if err == nil {
			o.Inputs.Loaded = around.Inputs
			var in *apply.Loaded
			if in, err = apply.Load(ctx, w.engine, &o, w.client, nil); err == nil {
				return in, &keptInputs{hubs: hubs, wrong: told}, around, nil
			}
		}
		problems, _ = errors.AsType[lynq.Problems](err)
	}
	return nil, nil, nil, wrong
}
