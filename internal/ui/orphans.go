package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// OrphanList lists orphans.
func OrphanList(orphans []orphan.Orphan, now time.Time) *list.List {
	l := &list.List{Title: "orphans list", At: now, Columns: []list.Column{
		{Name: "KIND", Flexible: true, Needed: true}, {Name: "NAMESPACE"}, {Name: "NAME"}, {Name: "REASON", Flexible: true},
		{Name: "SINCE"}, {Name: "FROM", Flexible: true}, {Name: "SIZE"},
		{Name: "HUB", Wide: true}, {Name: "ID", Wide: true}, {Name: "POLICIES", Wide: true},
		{Name: "APIVERSION", Wide: true}, {Name: "UID", Wide: true},
	}}
	for i := range orphans {
		o := &orphans[i]
		l.Items = append(l.Items, list.Item{
			Cells: []string{
				o.GroupKind(), o.Namespace, o.Name, orUnknown(Shown(o.Reason)), since(o, now), fromNode(o.From), o.Size,
				o.From.Hub.Name, o.From.ID, policies(o), o.Resource.APIVersion(), string(o.UID),
			},
			Name: o.Full(),
			Data: orphanDataOf(o),
		})
	}
	return l
}

// orUnknown returns the text, or "unknown" for an empty one.
func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// since returns how long ago an object became an orphan. Stranded objects have no such
// time.
func since(o *orphan.Orphan, now time.Time) string {
	switch {
	case slices.Contains(orphan.Stranding(), o.Reason):
		return ""
	case o.Since.IsZero():
		return "unknown"
	}
	return ago(now, o.Since)
}

func fromNode(from orphan.Origin) string {
	if from.Name == "" {
		return ""
	}
	return from.String()
}

// policies returns the policies that made an orphan, as far as they are known.
func policies(o *orphan.Orphan) string {
	words := []string{string(o.Deletion)}
	if o.Creation.Once() {
		words = append(words, string(o.Creation))
	}
	return strings.Trim(strings.Join(words, ","), ",")
}

// orphanData is an orphan in JSON and YAML (docs/orphans.md).
type orphanData struct {
	APIVersion     string              `json:"apiVersion"`
	Kind           string              `json:"kind"`
	Namespace      string              `json:"namespace,omitempty"`
	Name           string              `json:"name"`
	UID            string              `json:"uid"`
	Reason         string              `json:"reason,omitempty"`
	Since          *time.Time          `json:"since,omitempty"`
	From           *originData         `json:"from,omitempty"`
	DeletionPolicy lynq.DeletionPolicy `json:"deletionPolicy,omitempty"`
	CreationPolicy lynq.CreationPolicy `json:"creationPolicy,omitempty"`
	Storage        string              `json:"storage,omitempty"`
	Deleting       bool                `json:"deleting,omitempty"`
}

type originData struct {
	Hub       string `json:"hub,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Node      string `json:"node,omitempty"`
	ID        string `json:"id,omitempty"`
}

func orphanDataOf(o *orphan.Orphan) *orphanData {
	d := &orphanData{
		APIVersion: o.Resource.APIVersion(), Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID),
		Reason: o.Reason, DeletionPolicy: o.Deletion, CreationPolicy: o.Creation, Storage: o.Size,
		Deleting: o.Live != nil && o.Live.Deleting,
	}
	if !o.Since.IsZero() {
		at := o.Since.UTC()
		d.Since = &at
	}
	if o.From != (orphan.Origin{}) {
		d.From = &originData{Hub: o.From.Hub.Name, Namespace: o.From.Namespace, Node: o.From.Name, ID: o.From.ID}
	}
	return d
}
