package apps

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Encoding YAML takes a millisecond, and ten thousand nodes may differ only in names. So
// this file encodes the objects once per form, with slots for the values of a node. YAML
// quotes the zero bytes in slots, and no other text has them.
const (
	slotName    = "\x00name\x00"   // the object's name
	slotPath    = "\x00path\x00"   // the node's folder in the repository
	slotDotPath = "\x00./path\x00" // the same folder in Flux's form
)

// slotOf returns the slot for the name of a resource's object.
func slotOf(id string) string { return "\x00of " + id + "\x00" }

// appNode has the values of a node.
type appNode struct {
	name string // name of the objects for the node
	path string // path of its folder in the repository
}

// appText is the text of the objects for a form's nodes. A slot separates each two pieces.
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

// of returns the text for a node.
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

// ofResource returns the name of the object for one of the node's resources.
func (n appNode) ofResource(id string) string { return naming.PlainNodeName(n.name, id) }

// yamlText returns a text as YAML. It stays unquoted if every reader takes it for text.
// Names and paths do, if they start with a letter and have a dash or slash.
func yamlText(s string) string {
	letter := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || strings.HasPrefix(s, "./"))
	odd := strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("./-_", r)
	})
	if letter && !odd && strings.ContainsAny(s, "/-") {
		return s
	}
	quoted, _ := json.Marshal(s) // a string always encodes, and JSON is YAML
	return string(quoted)
}
