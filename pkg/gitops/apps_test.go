package gitops

import "testing"

// oneApp returns one object for the whole tree, in the file that it names.
type oneApp string

func (oneApp) Reserved(*Node, string) string { return "" }

func (oneApp) Node(*Node, string) (string, []byte) { return "", nil }
func (oneApp) Resources(*Node) []string            { return nil }
func (oneApp) ResourceName(string, string) string  { return "" }
func (oneApp) Generated(string) string             { return "" }
func (a oneApp) Tree(bool) []File                  { return []File{SharedFile(string(a), []byte("{}\n"))} }

// TestDropApps checks that objects for the whole tree are removed only in a run on the
// whole tree.
func TestDropApps(t *testing.T) {
	const set = "apps/applicationset/applicationset.yaml"
	acme, beta := rowNode("crm", "acme", "1"), rowNode("erp", "beta", "1")
	failed := rowNode("erp", "beta", "1")
	failed.Failed = true
	for _, test := range []struct {
		name string
		in   *Input
		goes bool
	}{
		{"all", inputOf([]*Node{acme, beta}), true},
		{"one hub of two", inputOf([]*Node{acme}), false},
		{"a node that failed to render", inputOf([]*Node{acme, failed}), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t)
			in := inputOf([]*Node{acme, beta})
			in.Apps = oneApp(set)
			s.run(in)
			if s.files()[set] == "" {
				t.Fatalf("%v", s.paths())
			}
			test.in.DropApps = true
			s.run(test.in)
			if gone := s.files()[set] == ""; gone != test.goes {
				t.Errorf("gone: %v, want %v", gone, test.goes)
			}
		})
	}
}
