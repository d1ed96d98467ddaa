package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// keptInputs names the hubs that keep their last good inputs, because files with their
// documents have errors.
type keptInputs struct {
	hubs  []lynq.HubKey // by the names in the files
	wrong lynq.Problems
}

// String says what is wrong, and which hubs continue.
func (k *keptInputs) String() string {
	names := make([]string, len(k.hubs))
	for i, h := range k.hubs {
		names[i] = h.String()
	}
	return fmt.Sprintf("%s %s the last good inputs until somebody repairs the files. Other hubs take the new inputs, and lynqctl deletes no data meanwhile: %v",
		phrase.Some(names), keepKeeps(len(names)), k.wrong)
}

func keepKeeps(hubs int) string {
	if hubs == 1 {
		return "keeps"
	}
	return "keep"
}

// trouble returns the trouble for the hub record. It returns nil for a hub with new inputs.
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

// loadAround loads inputs although some files have errors. Hubs in such files keep their
// earlier inputs. wrong is the error for all files. loadAround returns it if no hub can
// take new inputs.
func (w *watching) loadAround(ctx context.Context, o applycmd.Options, wrong error) (*applycmd.Loaded, *keptInputs, *form.Good, error) {
	told, _ := errors.AsType[lynq.Problems](wrong)
	bad := map[string]bool{}
	builder := load.Builder(ctx, w.engine, &o.Inputs)
	for problems := told; w.good != nil; {
		before := len(bad)
		for _, p := range problems {
			bad[p.Pos.File] = true
		}
		if len(bad) == before { // nothing more to leave out, or a problem without a file
			break
		}
		around, hubs, err := w.good.Around(builder, o.Inputs.Paths, o.Inputs.Recursive, bad)
		if err == nil {
			o.Inputs.Loaded = around.Inputs
			var in *applycmd.Loaded
			if in, err = applycmd.Load(ctx, w.engine, &o, w.client, nil); err == nil {
				return in, &keptInputs{hubs: hubs, wrong: told}, around, nil
			}
		}
		problems, _ = errors.AsType[lynq.Problems](err)
	}
	return nil, nil, nil, wrong
}
