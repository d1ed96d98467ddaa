package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Read returns the object of a node's recorded hook. The digest only proves that nobody
// changed the Secret alone. So a hook in another namespace must also match the form's hook,
// for the row that the inventory names.
func (n *declaredHooks) Read(me plan.Owner, r *inventory.Entry, recorded []byte) (*plan.Object, error) {
	o, content, err := readHook(me, r, recorded)
	if err != nil || r.Namespace == me.Namespace {
		return o, err
	}
	if n.Form == nil {
		return nil, errors.New("no form declares it")
	}
	h := n.Form.declared(r)
	if h == nil {
		return nil, fmt.Errorf("form %s doesn't declare it", n.Form.Form)
	}
	if at := valueDiffers(h.Manifest, content, n.UID, ""); at != "" {
		return nil, fmt.Errorf("form %s declares another one: they differ in %s", n.Form.Form, at)
	}
	return o, nil
}

// readHook returns a hook as recorded, if it matches the entry. content is the manifest without
// the fields that lynqctl adds to the form's.
func readHook(me plan.Owner, r *inventory.Entry, recorded []byte) (*plan.Object, map[string]any, error) {
	switch {
	case recorded == nil:
		return nil, nil, errors.New("it doesn't exist")
	case inventory.HookDigest(recorded) != r.Digest:
		return nil, nil, errors.New("somebody changed it, and it isn't the one that the inventory names")
	}
	var m plan.HookManifest
	var content map[string]any
	if json.Unmarshal(recorded, &m) != nil || utiljson.Unmarshal(m.Manifest, &content) != nil {
		return nil, nil, errors.New("it can't be read") // the cause may quote the manifest
	}
	body, err := manifest.Encode(content) // send exactly the checked content, even if the JSON has a key twice
	if err != nil {
		return nil, nil, err
	}
	if m.ID != r.ID || m.APIVersion != r.APIVersion {
		return nil, nil, errors.New("it names another hook than the inventory")
	}
	if err := checkRecorded(me, r, content); err != nil {
		return nil, nil, err
	}
	o := plan.HookAsRecorded(me, r)
	o.DependIDs, o.Body = m.DependIDs, body
	o.Policy.Timeout = time.Duration(m.TimeoutSeconds) * time.Second
	return o, content, nil
}

// checkRecorded refuses a manifest of another object than the entry names, or with another
// node's tracking. It removes the fields that lynqctl adds.
func checkRecorded(me plan.Owner, r *inventory.Entry, content map[string]any) error {
	metadata, _ := content["metadata"].(map[string]any)
	for _, is := range []struct{ field, want, got any }{
		{"apiVersion", r.APIVersion, content["apiVersion"]},
		{"kind", r.Kind, content["kind"]},
		{"metadata.name", r.Name, metadata["name"]},
		{"metadata.namespace", r.Namespace, metadata["namespace"]},
	} {
		if is.got != is.want {
			return fmt.Errorf("its %s is another one than the inventory names", is.field)
		}
	}
	if err := manifest.CheckMetadata(metadata); err != nil {
		return err
	}
	labels, _ := metadata["labels"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, record := labels[wellknown.LabelRecord]; record {
		return fmt.Errorf("its label %s is that of lynqctl's own records", wellknown.LabelRecord)
	}
	node := lynq.NodeLabels(me.Hub, me.NodeKey)
	for _, added := range []struct {
		in         map[string]any
		key, value string
	}{
		{labels, wellknown.LabelHub, me.Hub.Name},
		{labels, wellknown.LabelNode, node[wellknown.LabelNode]},
		{labels, wellknown.LabelNodeNamespace, node[wellknown.LabelNodeNamespace]},
		{labels, wellknown.LabelHubNamespace, node[wellknown.LabelHubNamespace]},
		{labels, wellknown.LabelPartOf, me.PartOf},
		{annotations, wellknown.AnnotationDeletionPolicy, string(lynq.DeleteDelete)},
		{annotations, wellknown.AnnotationResourceID, r.ID},
		{annotations, wellknown.AnnotationRunOn, string(lynq.RunOnDelete)},
	} {
		if got, said := added.in[added.key]; said && got != added.value {
			return fmt.Errorf("its %s is not that of the node", added.key)
		}
		delete(added.in, added.key)
	}
	return nil
}

// valueDiffers returns the path of the first field in which a manifest differs from the form's,
// or "".
func valueDiffers(said, recorded any, uid, at string) string {
	same := false
	switch said := said.(type) {
	case map[string]any:
		return mapDiffers(said, recorded, uid, at)
	case []any:
		l, ok := recorded.([]any)
		if !ok || len(l) != len(said) {
			break
		}
		for i := range said {
			if in := valueDiffers(said[i], l[i], uid, fmt.Sprintf("%s[%d]", at, i)); in != "" {
				return in
			}
		}
		same = true
	case lynq.Text:
		text, ok := recorded.(string)
		same = ok && said.Matches(uid, text)
	case lynq.Scalar:
		switch recorded.(type) {
		case int64, float64, bool:
			same = true
		}
	default:
		same = said == recorded
	}
	if same {
		return ""
	}
	return at
}

func mapDiffers(said map[string]any, recorded any, uid, at string) string {
	m, ok := recorded.(map[string]any)
	if !ok {
		return at
	}
	below := func(key string) string {
		if at == "" {
			return key
		}
		return at + "." + key
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		value, there := m[key]
		if !there {
			return below(key)
		}
		if in := valueDiffers(said[key], value, uid, below(key)); in != "" {
			return in
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if _, is := said[key]; !is && below(key) != "metadata.annotations."+wellknown.AnnotationUID {
			return below(key)
		}
	}
	return ""
}
