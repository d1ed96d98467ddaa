package apps

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Writing YAML takes a millisecond where there may be ten thousand nodes, which
// differ in names only. So the objects for a node are written once per form, with
// slots where a node has something of its own. The zero bytes, which nothing else
// has, make YAML quote them.
const (
	slotName    = "\x00name\x00"   // of the object
	slotPath    = "\x00path\x00"   // of the node's folder in the repository
	slotDotPath = "\x00./path\x00" // the same, as Flux likes it
)

// slotOf is the name of the object for one resource.
func slotOf(id string) string { return "\x00of " + id + "\x00" }

// appNode is what a node has of its own.
type appNode struct {
	name string // of the objects that point at it
	path string // of its folder in the repository
}

// appText is the text of the objects for the nodes of a form: between each two of
// its pieces is a slot.
type appText struct{ pieces, slots []string }

func newAppText(objects []map[string]any) *appText {
	whole := string(documentsOf(objects...))
	t := &appText{}
	for _, at := range regexp.MustCompile(`"\\0([^"\\]*)\\0"`).FindAllStringSubmatchIndex(whole, -1) {
		t.slots = append(t.slots, whole[at[2]:at[3]])
	}
	t.pieces = regexp.MustCompile(`"\\0[^"\\]*\\0"`).Split(whole, -1)
	return t
}

// of is the text for a node.
func (t *appText) of(n appNode) []byte {
	var b []byte
	for i, piece := range t.pieces {
		b = append(b, piece...)
		if i < len(t.slots) {
			b = append(b, yamlText(n.fill(t.slots[i]))...)
		}
	}
	return b
}

func (n appNode) fill(slot string) string {
	switch slot {
	case "name":
		return n.name
	case "path":
		return n.path
	case "./path":
		return "./" + n.path
	}
	return n.ofResource(strings.TrimPrefix(slot, "of "))
}

// ofResource is the name of the object for one resource of the node.
func (n appNode) ofResource(id string) string { return naming.PlainNodeName(n.name, id) }

// yamlText is a text as YAML: as it is where no reader could take it for anything
// else, which is so for names and paths with a letter first and a dash or a slash
// in them.
func yamlText(s string) string {
	letter := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || strings.HasPrefix(s, "./"))
	odd := strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("./-_", r)
	})
	if letter && !odd && strings.ContainsAny(s, "/-") {
		return s
	}
	quoted, _ := json.Marshal(s) // a string is always JSON, and that is YAML
	return string(quoted)
}
