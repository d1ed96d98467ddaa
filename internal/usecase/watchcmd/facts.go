package watchcmd

import (
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/form/files"
)

// facts returns the names by which people know these inputs.
func (w *watching) facts(hubs []load.HubPrograms) inputFacts {
	facts := inputFacts{Files: map[string]string{}, Hubs: map[string]bool{}, Forms: map[string]bool{}}
	files.Digests(w.o.Apply.Inputs.Paths, w.o.Apply.Inputs.Recursive, facts.Files)
	files.Digests(w.o.Apply.Tombstones.Paths, true, facts.Files)
	beside, _ := w.filesBeside()
	files.Digests(beside, false, facts.Files)
	for _, h := range hubs {
		facts.Hubs[h.Key.String()] = true
		for _, p := range h.Programs {
			facts.Forms[h.Key.String()+"/"+p.Form.Name] = true
		}
	}
	return facts
}
