package gitops

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// TestChangedListIsListed refuses to list a list again that a merge left from an earlier
// layout. It names a folder that doesn't exist, so kustomize couldn't build the tree.
func TestChangedListIsListed(t *testing.T) {
	for more, refused := range map[string]bool{"": false, "- gone-web\n": true} {
		t.Run(more, func(t *testing.T) {
			s := newSite(t)
			run := func(spread bool) *Input {
				in := inputOf([]*Node{volumeNode("crm", "acme", "data")})
				in.Spread = spread
				return in
			}
			s.run(run(true))
			spread := s.files()
			s.run(run(false))
			var list string
			for file := range spread {
				if path.Base(file) == kustomizationFile && strings.Count(file, "/") == 1 {
					list = file
				}
			}
			s.write(list, spread[list]+more)
			for line := range strings.Lines(spread[index.FileName]) {
				if strings.Contains(line, `"`+list+`"`) {
					s.write(index.FileName, s.files()[index.FileName]+line)
				}
			}
			in := run(true)
			_, p := s.plan(in)
			var got, want []string
			for _, r := range Refuse(in, p) {
				got = append(got, RefusalText(&r))
			}
			if refused {
				want = []string{list + ": others changed it, and this run would list it without overwriting it (restore it from Git, or overwrite it with --force)"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("with %q: %s", more, diff)
			}
		})
	}
}

// TestKilledRunLeavesList checks that a list of lynqctl is not listed again if a killed run
// removed a file that it names. Kustomize couldn't build the tree.
func TestKilledRunLeavesList(t *testing.T) {
	s := newSite(t)
	in := inputOf([]*Node{volumeNode("crm", "acme", "data")})
	s.run(in)
	_, p := s.plan(in)
	there, known := listingsOf(p.Final(), nil), index.DigestOf([]byte("known"))
	for name, tt := range map[string]struct {
		tree *listings
		want string
	}{
		"there": {there, ""},
		"gone":  {listingsOf(&index.Index{}, nil), "it names a file that is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			for file, content := range s.files() {
				if path.Base(file) != kustomizationFile {
					continue
				}
				f := relisted{
					Entry: &index.Entry{Path: file, Digests: []index.Digest{known}},
					state: State{There: true, Digest: known, Content: []byte(content)},
				}
				if got := f.defect(func() *listings { return tt.tree }); got != tt.want {
					t.Errorf("%s: %q, want %q", file, got, tt.want)
				}
			}
		})
	}
}
