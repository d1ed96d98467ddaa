package gitops

import (
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// PlainSecret is a resource of a form that shows values of Secrets.
type PlainSecret struct {
	// NodeID is the first node that shows them. Nodes counts all.
	lynq.NodeID
	Nodes int
	ID    string // id of the resource
}

// PlainSecrets returns the resources with objects that show values of a Secret, in node
// order. It checks rendered objects, because rows may supply all values.
func PlainSecrets(nodes []*Node) []PlainSecret {
	type resource struct {
		hub  lynq.HubKey
		form lynq.FormKey
		id   string
	}
	place := map[resource]int{}
	var found []PlainSecret
	for _, n := range nodes {
		for i := range n.Objects {
			o := &n.Objects[i]
			if !o.plain() {
				continue
			}
			key := resource{n.Hub, n.Form, o.ID}
			at, known := place[key]
			if !known {
				at, place[key] = len(found), len(found)
				found = append(found, PlainSecret{NodeID: n.NodeID, ID: o.ID})
			}
			found[at].Nodes++
		}
	}
	return found
}

// MayHaveSecret reports whether objects of a kind can have values of a Secret.
func MayHaveSecret(kind string) bool { return kind == "Secret" }

// plain reports whether an object shows values of a Secret. It doesn't parse kinds that
// can't. An unparseable object counts as one that does.
func (o *Object) plain() bool {
	if len(o.Bytes) == 0 || !MayHaveSecret(o.Kind) {
		return false
	}
	var content map[string]any
	return yaml.Unmarshal(o.Bytes, &content) != nil || content["apiVersion"] == "v1" && (filled(content["data"]) || filled(content["stringData"]))
}

// filled reports whether a field isn't empty. A template may have turned a map into text.
func filled(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case map[string]any:
		return len(v) > 0
	case string:
		return strings.TrimSpace(v) != ""
	}
	return true
}
