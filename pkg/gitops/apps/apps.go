package apps

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Options describe the objects that deploy a tree.
type Options struct {
	Kind policy.Apps
	// RepoURL is the tree's repository, and Revision a branch, tag or commit. For Flux,
	// they define a GitRepository. Without them, Flux uses an existing one with the name.
	RepoURL, Revision string
	Path              string // path of the tree in the repository
	Name              string // name of the ApplicationSet or GitRepository
	Namespace         string // namespace of all these objects
	// Project is an Argo CD project. DestServer or DestName is the cluster for the nodes'
	// objects.
	Project, DestServer, DestName string
}

// Form is a form with nodes in the tree.
type Form struct {
	Hub  lynq.HubKey
	Form *form.Form
}

func (f *Form) key() lynq.FormKey {
	return f.Form.Key()
}

// Maker returns the objects that deploy a tree. It implements gitops.Apps.
type Maker struct {
	options Options
	forms   []Form
	perNode map[*form.Form]*appText
	all     []ignoreRule // for Argo CD and the nodes of all forms
}

// New checks the options, and checks the forms for settings that these objects can't
// express. With AppsNone, it returns no objects, so that lynqctl removes those of an
// earlier run.
func New(o Options, forms []Form) (*Maker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Maker{options: o, forms: forms, perNode: map[*form.Form]*appText{}}
	var errs []error
	for _, f := range forms {
		objects, err := m.ofNode(f.Form)
		if len(objects) > 0 {
			m.perNode[f.Form] = newAppText(objects)
		}
		errs = append(errs, err)
	}
	if o.Kind == policy.AppsApplicationSet {
		m.all, err = argoIgnores(bare(forms))
		errs = append(errs, err)
	}
	return m, errors.Join(errs...)
}

// ofNode returns the objects for each node of a form.
func (m *Maker) ofNode(f *form.Form) ([]map[string]any, error) {
	switch m.options.Kind {
	case policy.AppsApplications:
		ignores, err := argoIgnores([]*form.Form{f})
		return []map[string]any{m.application(f, ignores)}, err
	case policy.AppsKustomizations:
		return []map[string]any{m.kustomization(slotName, f.WithChartKinds().Wanted())}, nil
	case policy.AppsOrdered:
		return m.orderedKustomizations(f), selectable(f)
	}
	return nil, nil
}

// Check returns an error for invalid options.
func (o Options) Check() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults fills in missing options.
func (o Options) withDefaults() (Options, error) {
	argo := o.Kind == policy.AppsApplications || o.Kind == policy.AppsApplicationSet
	set := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	switch {
	case o.Kind == policy.AppsNone:
		return o, nil
	case !argo && o.Project+o.DestServer+o.DestName != "":
		return o, errors.New("a project and a destination are Argo CD's: Flux has none")
	case o.DestServer != "" && o.DestName != "":
		return o, errors.New("a cluster has its server or its name, not both")
	case argo && o.RepoURL == "":
		return o, errors.New("pass --repo-url, the Git repository that Argo CD reads")
	case argo:
		set(&o.Project, "default")
		set(&o.Revision, "HEAD")
		set(&o.Name, "lynqctl")
		set(&o.Namespace, "argocd")
	case o.RepoURL == "" && o.Revision != "":
		return o, errors.New("a revision is of use with the URL of the repository only: without it, your GitRepository has it")
	case o.RepoURL == "":
		set(&o.Name, "flux-system")
		set(&o.Namespace, "flux-system")
	default:
		set(&o.Revision, "main")
		set(&o.Name, "lynqctl")
		set(&o.Namespace, "flux-system")
	}
	if o.Path = path.Clean("./" + o.Path); o.Path == ".." || strings.HasPrefix(o.Path, "../") {
		return o, fmt.Errorf("path %q leads out of the repository", o.Path)
	}
	if !naming.IsDNS1123Label(o.Name) || !naming.IsDNS1123Label(o.Namespace) {
		return o, fmt.Errorf("name %q or namespace %q isn't valid in Kubernetes (use at most 63 lowercase letters, digits, and '-')", o.Name, o.Namespace)
	}
	return o, nil
}

// selectable refuses forms with resources that can't have their own Kustomization.
func selectable(f *form.Form) error {
	var errs []error
	for _, c := range f.Charts {
		errs = append(errs, fmt.Errorf("%s: form %q, chart %q: only a row tells which objects need a Kustomization (use %s)", c.Pos, f.Name, c.ID, policy.AppsKustomizations))
	}
	for _, r := range f.Wanted() {
		if !naming.IsLabelValue(r.ID) {
			errs = append(errs, fmt.Errorf("%s: form %q, resource %q: no selector of Flux finds it by its id (use at most 63 letters, digits, dots and dashes)", r.Pos, f.Name, r.ID))
		}
	}
	return errors.Join(errs...)
}

// Covers refuses a run without all forms of the tree if one object serves all forms. It
// would lack the settings of the missing forms.
func (m *Maker) Covers(x *index.Index) error {
	if m.options.Kind != policy.AppsApplicationSet {
		return nil
	}
	if hub, form, found := m.scope().Stranger(x); found {
		return fmt.Errorf("the tree has nodes of hub %q, form %q, which take no part in this run. One ApplicationSet can't speak for them (give all hubs and forms of the tree, or use %s)", hub, form, policy.AppsApplications)
	}
	return nil
}

// scope returns the hubs and forms of the run. The files of a form under its earlier name
// are part of it.
func (m *Maker) scope() *index.Scope {
	s := &index.Scope{}
	for _, f := range m.forms {
		names := []lynq.FormKey{f.key()}
		if before := f.Form.RenamedFrom.Text; before != "" {
			names = append(names, lynq.FormKey{Namespace: f.Form.Namespace, Name: before})
		}
		s.Hubs = append(s.Hubs, index.HubScope{HubKey: f.Hub, Forms: names})
	}
	return s
}

// Node returns the file for a node in a folder of the tree. The file is "" if there is
// none.
func (m *Maker) Node(n *gitops.Node, folder string) (string, []byte) {
	text := m.perNode[m.formOf(n)]
	if text == nil {
		return "", nil
	}
	return path.Join(gitops.AppsFolder, string(m.options.Kind), folder+".yaml"),
		text.of(appNode{name: appName(path.Base(folder)), path: path.Join(m.options.Path, folder)})
}

// Resources returns the ids of the node's resources that have their own objects.
func (m *Maker) Resources(n *gitops.Node) []string {
	f := m.formOf(n)
	if m.options.Kind != policy.AppsOrdered || f == nil {
		return nil
	}
	ids := make([]string, len(f.Wanted()))
	for i, r := range f.Wanted() {
		ids[i] = r.ID
	}
	return ids
}

// Tree returns the files for the whole tree.
func (m *Maker) Tree(spread bool) []gitops.File {
	var files []gitops.File
	file := func(name string, objects ...map[string]any) {
		files = append(files, gitops.SharedFile(name, documentsOf(objects...)))
	}
	folder := path.Join(gitops.AppsFolder, string(m.options.Kind))
	switch m.options.Kind {
	case policy.AppsApplications, policy.AppsApplicationSet:
		if m.options.Kind == policy.AppsApplicationSet {
			file(path.Join(folder, "applicationset.yaml"), m.applicationSet(spread))
		}
		file(gitops.BootstrapFile, m.argoBootstrap(folder))
	case policy.AppsKustomizations, policy.AppsOrdered:
		bootstrap := []map[string]any{m.fluxBootstrap(folder)}
		if m.options.RepoURL != "" {
			file(path.Join(folder, "gitrepository.yaml"), m.gitRepository())
			bootstrap = append([]map[string]any{m.gitRepository()}, bootstrap...)
		}
		file(gitops.BootstrapFile, bootstrap...)
	}
	return files
}

// ResourceName implements gitops.Apps.
func (m *Maker) ResourceName(folder, id string) string {
	if m.options.Kind != policy.AppsOrdered {
		return ""
	}
	return appNode{name: appName(path.Base(folder))}.ofResource(id)
}

// fluxOwn is the Kustomization by which Flux deploys itself.
const fluxOwn = "flux-system"

// Reserved implements gitops.Apps. It reserves the names of the objects that deploy this
// tree, or one with a default name, and that of Flux's own Kustomization.
func (m *Maker) Reserved(n *gitops.Node, folder string) string {
	if m.options.Kind == policy.AppsNone {
		return ""
	}
	names := []string{appName(path.Base(folder)), m.Generated(folder)}
	for _, id := range m.Resources(n) {
		names = append(names, m.ResourceName(folder, id))
	}
	taken := []string{m.options.Name + "-apps", "lynqctl-apps", fluxOwn + "-apps", fluxOwn}
	if i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(taken, name) }); i >= 0 {
		return names[i]
	}
	return ""
}

// appName turns the name of a folder into an object's name. Usually, the folder has the
// node's name. It differs for nodes of the same name in several namespaces.
func appName(folder string) string {
	if naming.IsDNS1123Subdomain(folder) {
		return folder
	}
	return naming.HashedName(folder)
}

// formOf returns the form of a node, or nil if the run doesn't have it.
func (m *Maker) formOf(n *gitops.Node) *form.Form {
	key := n.Form
	for _, f := range m.forms {
		if f.Hub == n.Hub && f.key() == key {
			return f.Form
		}
	}
	return nil
}

func bare(forms []Form) []*form.Form {
	out := make([]*form.Form, len(forms))
	for i := range forms {
		out[i] = forms[i].Form
	}
	return out
}

// separator starts each document of a stream except the first.
const separator = "---\n"

// documentsOf writes objects as a YAML stream.
func documentsOf(objects ...map[string]any) []byte {
	var b bytes.Buffer
	b.WriteString("# Written by lynqctl render.\n")
	for i, o := range objects {
		if i > 0 {
			b.WriteString(separator)
		}
		text, _ := yaml.Marshal(o) // maps, lists and strings always encode
		b.Write(text)
	}
	return b.Bytes()
}

// In returns the kinds of objects that an earlier run wrote into a tree.
func In(x *index.Index) []policy.Apps {
	var kinds []policy.Apps
	for i := range x.Entries {
		parts := strings.Split(x.Entries[i].Path, "/")
		if parts[0] == gitops.AppsFolder && len(parts) > 2 && !slices.Contains(kinds, policy.Apps(parts[1])) {
			kinds = append(kinds, policy.Apps(parts[1]))
		}
	}
	return kinds
}
