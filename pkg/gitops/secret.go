package gitops

import (
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// PlainSecret is a resource of a form that shows values of Secrets.
type PlainSecret struct {
	// NodeID is the first node that shows them, of so many.
	lynq.NodeID
	Nodes int
	ID    string // of the resource
}

// PlainSecrets are the resources of which an object shows values of a Secret, in the
// order of the nodes. Only the rendered object tells: a Secret may be an item of a list,
// and a row may fill in all of its values.
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

// plain tells whether an object shows values of a Secret. Most kinds cannot, and are not
// read. One that cannot be read is taken for one that does.
func (o *Object) plain() bool {
	if len(o.Bytes) == 0 || o.Kind != "Secret" && !isList(o.Kind) {
		return false
	}
	var content map[string]any
	return yaml.Unmarshal(o.Bytes, &content) != nil || showsSecret(content, "", "")
}

// showsSecret tells whether an object, or an item of a list, is a Secret with values. An
// item of a SecretList need not say what it is.
func showsSecret(o map[string]any, apiVersion, kind string) bool {
	if s, _ := o["apiVersion"].(string); s != "" {
		apiVersion = s
	}
	if s, _ := o["kind"].(string); s != "" {
		kind = s
	}
	if apiVersion == "v1" && kind == "Secret" && (filled(o["data"]) || filled(o["stringData"])) {
		return true
	}
	items, _ := o["items"].([]any)
	for _, item := range items {
		content, _ := item.(map[string]any)
		if isList(kind) && showsSecret(content, apiVersion, strings.TrimSuffix(kind, "List")) {
			return true
		}
	}
	return false
}

// isList tells whether kustomize and kubectl take a kind for a list of objects.
func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// filled tells whether a field has anything in it. A template may have made text of what
// should be a map.
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
