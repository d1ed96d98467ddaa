package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func (a *app) orphansListCommand() *cobra.Command {
	var f orphanFlags
	var p printFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what nodes left behind",
		Long: `List the objects of all kinds that nodes left behind: also those that
'kubectl get all' does not show, such as custom resources, volume claims,
ConfigMaps and Secrets. Kinds that you may not list are named in a warning.

With --stranded also objects that have lynqctl's tracking and no entry in an
inventory, and entries whose objects are gone.`,
		Example: `  # All orphans of the cluster
  lynqctl orphans list -A

  # What a tenant left, a month ago or longer
  lynqctl orphans list --node acme-web --older-than 30d

  # Also objects without an entry, after inventories were lost
  lynqctl orphans list -A --stranded -o wide`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return err
			}
			return a.orphansList(cmd.Context(), &f, &p)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVar(&f.Stranded, "stranded", false, "also objects that no inventory has an entry for ("+orphan.ReasonStranded+"), and entries whose objects are gone ("+orphan.ReasonGone+")")
	p.register(flags)
	p.registerList(flags)
	return cmd
}

func (a *app) orphansList(ctx context.Context, f *orphanFlags, p *printFlags) error {
	now := time.Now()
	if err := f.check(now); err != nil {
		return err
	}
	found, err := a.engine("").Orphans(ctx, &f.OrphanOptions)
	if err != nil {
		return err
	}
	l := orphanList(found.Orphans, now)
	l.Warnings = found.Warnings()
	l.Empty = "No orphans found in any namespace"
	if namespace := f.Query.Namespace; namespace != "" {
		l.Empty = "No orphans found in namespace " + namespace + " (-A looks in all)"
	}
	return p.printList(a, l)
}

// orphanList shows orphans.
func orphanList(orphans []orphan.Orphan, now time.Time) *ui.List {
	l := &ui.List{Columns: []ui.Column{
		{Name: "KIND", Flexible: true, Needed: true}, {Name: "NAMESPACE"}, {Name: "NAME"}, {Name: "REASON", Flexible: true},
		{Name: "SINCE"}, {Name: "FROM", Flexible: true}, {Name: "SIZE"},
		{Name: "HUB", Wide: true}, {Name: "ID", Wide: true}, {Name: "POLICIES", Wide: true},
		{Name: "APIVERSION", Wide: true}, {Name: "UID", Wide: true},
	}}
	for i := range orphans {
		o := &orphans[i]
		l.Items = append(l.Items, ui.Item{
			Cells: []string{
				o.GroupKind(), o.Namespace, o.Name, orUnknown(o.Reason), since(o, now), fromNode(o.From), o.Size,
				o.From.Hub, o.From.ID, policies(o), o.Resource.APIVersion(), string(o.UID),
			},
			Name: o.Full(),
			Data: orphanDataOf(o),
		})
	}
	return l
}

// orUnknown is a text, or says that it is not.
func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// since is how long ago something was orphaned. What is stranded was not.
func since(o *orphan.Orphan, now time.Time) string {
	switch {
	case slices.Contains(orphan.Stranding(), o.Reason):
		return ""
	case o.Since.IsZero():
		return "unknown"
	}
	return duration.HumanDuration(max(now.Sub(o.Since), 0))
}

func fromNode(from orphan.Origin) string {
	if from.Node == "" {
		return ""
	}
	return from.Namespace + "/" + from.Node
}

// policies are those by which an orphan was made, as far as they are known.
func policies(o *orphan.Orphan) string {
	words := []string{string(o.Deletion)}
	if o.Creation == lynq.CreateOnce {
		words = append(words, string(o.Creation))
	}
	return strings.Trim(strings.Join(words, ","), ",")
}

// orphanData is an orphan as JSON and YAML have it (docs/orphans.md).
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
		d.From = &originData{Hub: o.From.Hub, Namespace: o.From.Namespace, Node: o.From.Node, ID: o.From.ID}
	}
	return d
}
