package model_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// scene is a hub with one row and one form, whose volume exists in the cluster, and a
// command that is about to run.
type scene struct {
	inputs  model.Inputs
	object  model.Object
	entry   model.Entry
	inv     model.Inventory
	command model.Command
	exit    int
	// after is the object after the command. nil means that it is gone.
	after *model.Object
	stays bool // the inventory stays, too
}

func newScene() *scene {
	ref := model.Ref{Kind: model.Claim, Namespace: model.Near, Name: "acme-data"}
	s := &scene{
		inputs: model.Inputs{{
			Name:  "us",
			Rows:  []model.Row{{UID: "acme", Active: true, Columns: map[string]string{"alias": "acme", "feature": "true"}}},
			Forms: []model.Form{{Name: "web", Resources: []model.Resource{{ID: "data", Kind: model.Claim, Name: "{{ .alias }}-data", Deletion: model.Delete, Adoption: model.IfUnowned}}}, {Name: "db"}},
		}},
		object: model.Object{
			Ref: ref, UID: "u1", Labels: map[string]string{"lynq.sh/hub": "us"}, Annotations: map[string]string{"lynq.sh/deletion-policy": model.Delete},
			Owners: []model.Owner{{UID: "i1", Controller: true}}, Body: "content", Whole: "content, tracked",
		},
		entry:   model.Entry{Ref: ref, UID: "u1", Deletion: model.Delete},
		inv:     model.Inventory{Name: "acme-web", Namespace: "ns", UID: "i1", ApplySet: "set", Node: model.Node{Hub: "us", Form: "web", Row: "acme"}},
		command: model.Command{Verb: "apply", MaxDelete: "100%"},
	}
	return s
}

func (s *scene) row() *model.Row           { return &s.inputs[0].Rows[0] }
func (s *scene) form() *model.Form         { return &s.inputs[0].Forms[0] }
func (s *scene) resource() *model.Resource { return &s.form().Resources[0] }
func (s *scene) off()                      { s.row().Active = false }

// check returns the model's verdict about the scene.
func (s *scene) check() string {
	s.inv.Entries = append(s.inv.Entries, s.entry)
	picture := func(objects ...model.Object) *model.Cluster {
		c := &model.Cluster{Objects: map[string]model.Object{}, UIDs: map[string]bool{"i1": true}, Inventories: []model.Inventory{s.inv}}
		for _, o := range objects {
			c.Objects[o.UID] = o
		}
		return c
	}
	before, after := picture(s.object), picture()
	if !s.stays {
		after.UIDs = nil
	}
	if s.after != nil {
		after = picture(*s.after)
	}
	s.command.Inputs = s.inputs
	return strings.Join(model.Check(s.command, before, after, s.exit), "\n")
}

// TestDeletions wants the model to name the condition of the contract that a deletion
// lacks.
func TestDeletions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*scene)
		want   string
	}{
		"its row left":              {(*scene).off, ""},
		"nothing left":              {func(s *scene) { s.exit = 1 }, "row acme of form web renders it"},
		"no entry":                  {func(s *scene) { s.off(); s.entry.UID = "u2" }, "it isn't ours"},
		"an entry without a uid":    {func(s *scene) { s.off(); s.entry.UID = "" }, ""},
		"no tracking":               {func(s *scene) { s.off(); s.object.Owners = nil }, "it isn't ours"},
		"tracking by labels":        {func(s *scene) { s.off(); s.labelled("acme-web", "ns") }, ""},
		"tracking of another node":  {func(s *scene) { s.off(); s.labelled("bolt-web", "ns") }, "it isn't ours"},
		"tracking in another place": {func(s *scene) { s.off(); s.labelled("acme-web", "elsewhere") }, "it isn't ours"},
		"another hub's label":       {func(s *scene) { s.off(); s.object.Labels["lynq.sh/hub"] = "eu" }, "it isn't ours"},
		"an inventory that is being restored": {func(s *scene) {
			s.off()
			s.object.Owners = nil
			s.object.Labels["applyset.kubernetes.io/part-of"] = "set"
		}, ""},
		"another form renders it": {func(s *scene) {
			s.inputs[0].Forms[1].Resources, s.form().Resources = s.form().Resources, nil
			s.exit = 1
		}, "row acme of form db renders it"},
		"another row renders it": {func(s *scene) {
			s.off()
			s.inputs[0].Rows = append(s.inputs[0].Rows, model.Row{UID: "bolt", Active: true, Columns: map[string]string{"alias": "acme"}})
			s.command.Nodes, s.exit = []string{"acme-web"}, 1
		}, "row bolt of form web renders it"},
		"another hub renders it": {func(s *scene) {
			hub := s.inputs[0]
			hub.Name, hub.Rows = "eu", slices.Clone(hub.Rows)
			s.inputs = append(s.inputs, hub)
			s.off()
			s.exit = 1
		}, "row acme of form web renders it"},
		"a row that doesn't render may render it": {func(s *scene) { s.resource().When, s.row().Columns["feature"] = "feature", "oops" }, "renders it"},
		"its row doesn't render": {func(s *scene) {
			s.form().Resources = append(s.form().Resources, model.Resource{ID: "opt", When: "feature"})
			s.resource().Name, s.row().Columns["feature"] = "other", "oops"
		}, "its row doesn't render"},
		"includeWhen is false":                                 {func(s *scene) { s.resource().When, s.row().Columns["feature"] = "feature", "false" }, ""},
		"another run's node":                                   {func(s *scene) { s.off(); s.command.Nodes = []string{"bolt-web"} }, "is not of this run"},
		"another run's form":                                   {func(s *scene) { s.off(); s.command.Forms = []string{"db"} }, "is not of this run"},
		"another run's hub":                                    {func(s *scene) { s.off(); s.command.Hubs = []string{"eu"} }, "is not of this run"},
		"a run with -l":                                        {func(s *scene) { s.off(); s.command.Label, s.object.Labels["tenant"] = "acme", "acme" }, "-l deletes only"},
		"purged in a run with -l":                              {func(s *scene) { s.resource().Purge, s.command.Label, s.object.Labels["tenant"] = true, "acme", "acme" }, ""},
		"purged in another run with -l":                        {func(s *scene) { s.resource().Purge, s.command.Label = true, "acme" }, "its labels are not of this run"},
		"the inputs lack its form":                             {func(s *scene) { s.off(); s.inputs[0].Forms = s.inputs[0].Forms[1:] }, "the inputs lack its form"},
		"the inputs lack its hub":                              {func(s *scene) { s.inputs = nil }, "the inputs lack its form"},
		"its hub excludes it":                                  {func(s *scene) { s.off(); s.inputs[0].Exclude = []model.Rule{{Kind: model.Claim, Name: "*-data"}} }, "it is excluded"},
		"its form excludes it":                                 {func(s *scene) { s.off(); s.form().Exclude = []model.Rule{{Kind: model.Claim, Name: "acme-*"}} }, "it is excluded"},
		"another form excludes it":                             {func(s *scene) { s.off(); s.inputs[0].Forms[1].Exclude = []model.Rule{{Kind: model.Claim, Name: "*"}} }, ""},
		"retained":                                             {func(s *scene) { s.off(); s.entry.Deletion = model.Retain }, "policy is Retain"},
		"retained by the object":                               {func(s *scene) { s.off(); s.object.Annotations["lynq.sh/deletion-policy"] = model.Retain }, "policy is Retain"},
		"retained when its node leaves":                        {func(s *scene) { s.off(); s.entry.Deletion = model.RetainOnDelete }, "policy is RetainOnDelete"},
		"retained when its form drops it, and its node leaves": {func(s *scene) { s.off(); s.entry.Deletion = model.RetainOnApply }, ""},
		"retained when its form drops it":                      {func(s *scene) { s.form().Resources = nil; s.entry.Deletion = model.RetainOnApply }, "policy is RetainOnApply"},
		"its kind was not read":                                {func(s *scene) { s.off(); s.command.Unseen = []string{model.Claim} }, "could not read its kind"},
		"Helm has it":                                          {func(s *scene) { s.off(); s.helm() }, "another tool owns it"},
		"another controller has it": {func(s *scene) {
			s.off()
			s.object.Owners = append(s.object.Owners, model.Owner{UID: "x", Controller: true})
		}, "another tool owns it"},
		"unmanaged":                         {func(s *scene) { s.off(); s.object.Annotations["lynq.sh/mode"] = "unmanaged" }, "unmanaged"},
		"purged":                            {func(s *scene) { s.resource().Purge = true }, ""},
		"adopted and purged":                {func(s *scene) { s.resource().Purge, s.entry.Adopted = true, true }, "it was adopted"},
		"foreign and purged":                {func(s *scene) { s.resource().Purge = true; s.object.Owners = nil }, "it isn't ours"},
		"recreated with data":               {func(s *scene) { s.resource().Recreate, s.exit = true, 1 }, "renders it"},
		"more than the guard lets":          {func(s *scene) { s.off(); s.command.MaxDelete = "0" }, "1 nodes of hub us lost objects"},
		"data, and the guard":               {func(s *scene) { s.form().Resources = nil; s.command.MaxDelete = "0" }, "1 nodes of hub us lost objects"},
		"purged data, and the guard":        {func(s *scene) { s.resource().Purge, s.command.MaxDelete = true, "0" }, ""},
		"a share is a node or more":         {func(s *scene) { s.off(); s.command.MaxDelete = "25%" }, ""},
		"a copy of a kind that is recorded": {func(s *scene) { s.off(); s.copied(); s.entry.Kind = model.Claim }, "it isn't ours"},
		"a copy of no recorded kind":        {func(s *scene) { s.off(); s.copied() }, "it isn't ours"},
		"a copy, and its inventory stays":   {func(s *scene) { s.copied(); s.stays = true }, "it isn't ours"},
		"being deleted":                     {func(s *scene) { s.object.Deleting = true }, "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			tt.change(s)
			if got := s.check(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("the model says %q, want %q", got, tt.want)
			}
		})
	}
}

// copied makes the object a copy: the inventory records another kind.
func (s *scene) copied() {
	s.object.Name = "acme-data-copy"
	s.entry.Kind = model.Config
}

// excludedElsewhere makes another form render the object and exclude it.
func (s *scene) excludedElsewhere() {
	after := s.object
	s.after = &after
	s.inputs[0].Forms[1].Resources, s.form().Resources = s.form().Resources, nil
	s.inputs[0].Forms[1].Exclude = []model.Rule{{Kind: model.Claim, Name: "*-data"}}
	s.exit = 1
}

func (s *scene) labelled(node, namespace string) {
	s.object.Owners = nil
	s.object.Labels["lynq.sh/node"], s.object.Labels["lynq.sh/node-namespace"] = node, namespace
}

func (s *scene) helm() {
	s.object.Labels["app.kubernetes.io/managed-by"], s.object.Annotations["meta.helm.sh/release-name"] = "Helm", "theirs"
}

// TestCommands works like TestDeletions, for commands without inputs, and for tombstones.
func TestCommands(t *testing.T) {
	t.Parallel()
	orphan := func(s *scene) {
		s.command.Verb, s.object.Owners, s.object.Labels["lynq.sh/orphaned"] = "prune", nil, "true"
	}
	stone := func(s *scene) {
		s.form().Tombstone, s.form().Resources = true, nil
		s.object = model.Object{Ref: model.TombstoneOf("acme"), UID: "u1", Labels: map[string]string{"tenant": "acme"}}
	}
	for name, tt := range map[string]struct {
		change func(*scene)
		want   string
	}{
		"delete":                   {func(s *scene) { s.command = model.Command{Verb: "delete", Nodes: []string{"acme-web"}} }, ""},
		"delete of another node":   {func(s *scene) { s.command = model.Command{Verb: "delete", Nodes: []string{"bolt-web"}} }, "is not deleted"},
		"delete of what excluded":  {func(s *scene) { s.command.Verb, s.entry.Excluded = "delete", true }, "recorded as excluded"},
		"delete that orphans":      {func(s *scene) { s.command.Verb, s.command.CascadeOrphan = "delete", true }, "--cascade=orphan"},
		"delete of what is kept":   {func(s *scene) { s.command.Verb, s.entry.Deletion = "delete", model.Retain }, "policy is Retain"},
		"delete of what is theirs": {func(s *scene) { s.command.Verb, s.object.Owners = "delete", nil }, "it isn't ours"},
		"finalize":                 {func(s *scene) { s.command.Verb, s.inv.Deleting = "finalize", true }, ""},
		"finalize of a live node":  {func(s *scene) { s.command.Verb = "finalize" }, "nobody deleted the inventory"},
		"restore":                  {func(s *scene) { s.command.Verb = "restore" }, "deletes no objects"},
		"prune of data":            {orphan, "it holds data"},
		"prune":                    {func(s *scene) { orphan(s); s.command.IncludeData = true }, ""},
		"prune of what is ours":    {func(s *scene) { s.command.Verb = "prune" }, "it is no orphan"},
		"prune of what has a node": {func(s *scene) { orphan(s); s.labelled("acme-web", "ns") }, "its node acme-web has it"},
		"prune elsewhere":          {func(s *scene) { orphan(s); s.command.IncludeData, s.object.Namespace = true, model.Far }, "another namespace"},
		"tombstone":                {stone, ""},
		"tombstone, other label":   {func(s *scene) { stone(s); s.object.Labels["tenant"] = "bolt" }, "it isn't ours"},
		"tombstone, excluded": {func(s *scene) {
			stone(s)
			s.form().Exclude = []model.Rule{{Kind: model.Config, Name: "*-old"}}
		}, "it isn't ours"},
		"tombstone, recorded":      {func(s *scene) { stone(s); s.entry.Ref = s.object.Ref }, "it isn't ours"},
		"tombstone, row is gone":   {func(s *scene) { stone(s); s.off() }, "it isn't ours"},
		"tombstone, another run":   {func(s *scene) { stone(s); s.command.Nodes = []string{"bolt-web"} }, "it isn't ours"},
		"tombstone, another owner": {func(s *scene) { stone(s); s.object.Annotations = map[string]string{}; s.helm() }, "another tool owns it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			tt.change(s)
			if got := s.check(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("the model says %q, want %q", got, tt.want)
			}
		})
	}
}

// TestChanges wants a verdict about every unauthorized change of an object that stays, and
// about objects left to the garbage collector.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*scene)
		want   string
	}{
		"as it was":                 {func(*scene) {}, ""},
		"its content":               {func(s *scene) { s.after.Body = "new" }, ""},
		"content of what is theirs": {func(s *scene) { s.theirs(); s.resource().Adoption = model.Never; s.after.Body = "new" }, "nothing may adopt it"},
		"content of what we adopt":  {func(s *scene) { s.theirs(); s.exit = 1; s.after.Body = "new" }, ""},
		"content of what Helm has":  {func(s *scene) { s.theirs(); s.helm(); s.exit = 1; s.after.Body = "new" }, "nothing may adopt it"},
		"content of what we take over": {func(s *scene) {
			s.theirs()
			s.helm()
			s.resource().Adoption, s.exit, s.after.Body = model.Always, 1, "new"
		}, ""},
		"content, --adopt=never":                 {func(s *scene) { s.theirs(); s.command.AdoptNever, s.exit, s.after.Body = true, 1, "new" }, "nothing may adopt it"},
		"metadata of what is theirs":             {func(s *scene) { s.theirs(); s.off(); s.after.Whole = "new" }, "the tracking of"},
		"content of what is excluded":            {func(s *scene) { s.excluded(); s.after.Body = "new" }, "it is excluded"},
		"content of what another form excludes":  {func(s *scene) { s.excludedElsewhere(); s.after.Body = "new" }, "it is excluded"},
		"tracking of what another form excludes": {func(s *scene) { s.excludedElsewhere(); s.after.Whole = "new" }, ""},
		"tracking of what is excluded":           {func(s *scene) { s.excluded(); s.after.Whole = "new" }, "it is excluded"},
		"content in another run":                 {func(s *scene) { s.command.Nodes = []string{"bolt-web"}; s.after.Body = "new" }, "not of this run"},
		"content that its own row's node has": {func(s *scene) {
			s.inputs = append(s.inputs, model.Hub{Name: "eu", Rows: s.inputs[0].Rows, Forms: []model.Form{{Name: "app", Resources: s.form().Resources}}})
			s.command.Nodes, s.after.Body = []string{"acme-app"}, "new"
		}, "acme-web is not of this run, and renders it"},
		"tracking in the run of the node that its own goes on as": {func(s *scene) {
			s.inputs = append(s.inputs, model.Hub{Name: "eu", Rows: slices.Clone(s.inputs[0].Rows), Forms: []model.Form{{Name: "app", Resources: []model.Resource{{ID: "x", Kind: model.Config, Name: "x"}}}}})
			s.off()
			s.command.Nodes, s.after.Whole, s.exit = []string{"acme-app"}, "new", 1
		}, ""},
		"content in a dry run":          {func(s *scene) { s.command.Verb, s.after.Body = "look", "new" }, "only reads"},
		"content while it is restored":  {func(s *scene) { s.command.Verb, s.after.Body = "restore", "new" }, "doesn't write content"},
		"tracking while it is restored": {func(s *scene) { s.command.Verb, s.after.Whole = "restore", "new" }, ""},
		"tracking, restored, excluded":  {func(s *scene) { s.command.Verb, s.entry.Excluded, s.after.Whole = "restore", true, "new" }, "recorded as excluded"},
		"left to the collector":         {func(s *scene) { s.after.Owners = []model.Owner{{UID: "i0"}} }, "was deleted"},
		"tracking is gone":              {func(s *scene) { s.after.Owners = nil }, "is not tracked and recorded"},
		"tracking is gone, it failed":   {func(s *scene) { s.after.Owners, s.exit = nil, 1 }, ""},
		"another policy is recorded":    {func(s *scene) { s.resource().Deletion = model.Retain }, "its form says Retain"},
		"another policy, not read":      {func(s *scene) { s.resource().Deletion, s.command.Unseen = model.Retain, []string{model.Claim} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			after := s.object
			after.Labels, after.Annotations = maps.Clone(after.Labels), maps.Clone(after.Annotations)
			s.after = &after
			tt.change(s)
			if got := s.check(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("the model says %q, want %q", got, tt.want)
			}
		})
	}
}

// theirs makes the object one that lynqctl has never seen.
func (s *scene) theirs() {
	s.object.Labels, s.object.Owners, s.entry.Ref, s.exit = map[string]string{}, nil, model.Ref{}, 1
}

func (s *scene) excluded() { s.form().Exclude = []model.Rule{{Kind: model.Claim, Name: "*"}} }

// TestHandover moves objects from a LynqNode to an inventory, and wants a verdict about
// each loss.
func TestHandover(t *testing.T) {
	t.Parallel()
	volume := model.Object{
		Ref: model.Ref{Kind: model.Claim, Namespace: model.Near, Name: "acme-data"}, UID: "u1",
		Owners: []model.Owner{{UID: "n1", Controller: true}}, Body: "content", Whole: "content, operated",
	}
	taken := volume
	taken.Owners, taken.Whole = []model.Owner{{UID: "i1", Controller: true}}, "content, tracked"
	taken.Labels = map[string]string{"lynq.sh/hub": "us"}
	changed := taken
	changed.Body = "other content"
	stranger := volume
	stranger.Owners = nil
	inventory := model.Inventory{
		Name: "acme-web", Namespace: "ns", UID: "i1", Node: model.Node{Hub: "us", Form: "web", Row: "acme"},
		Entries: []model.Entry{{Ref: volume.Ref, UID: "u1", Deletion: model.Delete}},
	}
	picture := func(node, record bool, objects ...model.Object) *model.Cluster {
		c := &model.Cluster{Objects: map[string]model.Object{}, UIDs: map[string]bool{}}
		for _, o := range objects {
			c.Objects[o.UID] = o
		}
		if node {
			c.Operated, c.UIDs["n1"] = []model.Operated{{Name: "acme-web", UID: "n1", Namespace: "ns"}}, true
		}
		if record {
			c.Inventories, c.UIDs["i1"] = []model.Inventory{inventory}, true
		}
		return c
	}
	for name, tt := range map[string]struct {
		before, after *model.Cluster
		exit          int
		want          string
	}{
		"all of it":                      {picture(true, false, volume), picture(false, true, taken), 0, ""},
		"killed before the LynqNode":     {picture(true, false, volume), picture(true, true, taken), -1, ""},
		"a LynqNode that stays":          {picture(true, false, volume), picture(true, true, taken), 0, "LynqNode acme-web is there"},
		"an object that nobody recorded": {picture(true, false, volume), picture(false, true, stranger), 0, "no inventory has its"},
		"an object that went with it":    {picture(true, false, volume), picture(false, true), 0, "was deleted"},
		"left to the garbage collector":  {picture(true, false, volume), picture(false, true, volume), -1, "was deleted"},
		"content":                        {picture(true, false, volume), picture(false, true, changed), 0, "the command doesn't write content"},
		"a stranger's object":            {picture(true, false, stranger), picture(false, true, taken), 0, "the tracking of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(model.Check(model.Command{Verb: "handover"}, tt.before, tt.after, tt.exit), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("the model says %q, want %q", got, tt.want)
			}
		})
	}
}
