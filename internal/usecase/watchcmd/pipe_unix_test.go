//go:build unix

package watchcmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestPipeOfRows wants an error for a pipe in the place of the rows' file, and none once
// the file is back.
func TestPipeOfRows(t *testing.T) {
	table := filepath.Join(t.TempDir(), "rows.csv")
	if err := syscall.Mkfifo(table, 0o600); err != nil {
		t.Fatal(err)
	}
	hub := &form.Hub{Name: "crm", Source: endpoint.Connection{Type: endpoint.SourceCSV, Path: table}}
	h := &hubWatch{reads: newRowReads(), inputs: newLatestInputs(&hubInputs{Loaded: &applycmd.Loaded{Inputs: &load.Inputs{Hubs: []load.HubPrograms{{Hub: hub}}}}})}
	if err := h.read(t.Context(), &session.Run{}); err == nil || !strings.Contains(err.Error(), "is a pipe") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, []byte("id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.checkPipe(); err != nil {
		t.Error(err)
	}
}
