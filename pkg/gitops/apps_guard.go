package gitops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// refuseApps refuses to change the name, namespace, project or cluster of the objects that
// deploy the tree. The target would delete the old ones, and most of them delete the
// tenants' objects. In another cluster, each tenant would start empty. Nothing would
// manage the objects in the old cluster.
func refuseApps(p *Plan) (plan.Refusal, bool) {
	type source struct {
		hub  lynq.HubKey
		form lynq.FormKey
	}
	seen := map[source]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if !isApp(s.Path) || s.File == nil || s.Old == nil || s.State.Content == nil {
			continue
		}
		if !s.File.Shared() {
			of := source{s.File.Hub, s.File.Form}
			if seen[of] {
				continue // the nodes of a form share all of this
			}
			seen[of] = true
		}
		if what := appChange(s.State.Content, s.File.Bytes, s.File.Shared()); what != "" {
			return plan.Refusal{
				Guard: GuardApps, Path: s.Path, What: what,
				Fix: "pass --app-name, --app-namespace, --app-project, --dest-server and --dest-name as before, and for an ApplicationSet --repo-url, --repo-path, --revision and --spread; to change them, see docs/gitops-policies.md",
			}, true
		}
	}
	return plan.Refusal{}, false
}

// refuseUnspoken refuses an ApplicationSet for a tree with a node of a hub or form that had no
// namespace, unless the run renders the node. The hub may be another one, with settings that
// the ApplicationSet would lose.
func (in *Input) refuseUnspoken(p *Plan) []plan.Refusal {
	if in.Apps == nil || in.Apps.Generated("a") == "" {
		return nil
	}
	var nodes map[lynq.NodeKey]*Node
	for _, e := range p.Kept {
		if e.Shared() || in.TakesPart(e) {
			continue
		}
		if nodes == nil {
			nodes = nodesOfRun(in)
		}
		if n := nodes[e.Node]; n != nil && n.inherits(e) {
			continue
		}
		hub, form := in.Called(e.Owner)
		return []plan.Refusal{{
			Guard: GuardApps, Path: placeOf(e),
			What: fmt.Sprintf("it is of hub %q, form %q, and hubs or forms of that name in this run have a namespace. One ApplicationSet can't speak for both", hub, form),
			Fix:  fmt.Sprintf("if they are the same, pass -n %s, and remove the folders of nodes without a row; if not, pass all hubs and forms of the tree, or use --emit-apps=%s", e.Node.Namespace, policy.AppsApplications),
		}}
	}
	return nil
}

// appChange names the object of a file whose identity would change, or returns "". Options
// name only the objects for the whole tree.
func appChange(before, after []byte, named bool) string {
	now := map[string]appIdentity{}
	for _, a := range appIdentities(after) {
		now[a.kind] = a
	}
	for _, old := range appIdentities(before) {
		switch is, there := now[old.kind]; {
		case !there:
		case old.namespace != is.namespace, named && old.name != is.name:
			return fmt.Sprintf("%s %s/%s would become %s/%s, and the target may delete what the old one applied", old.kind, old.namespace, old.name, is.namespace, is.name)
		case old.project != is.project:
			return fmt.Sprintf("%s %s/%s would leave project %s for %s", old.kind, old.namespace, old.name, old.project, is.project)
		case old.finds != is.finds:
			return fmt.Sprintf("%s %s/%s would find other folders: %s instead of %s, and Argo CD deletes the Applications of the others", old.kind, old.namespace, old.name, is.finds, old.finds)
		case old.cluster != is.cluster:
			return fmt.Sprintf("%s %s/%s would leave cluster %s for %s, where every tenant starts empty", old.kind, old.namespace, old.name, old.cluster, is.cluster)
		}
	}
	return ""
}

// appIdentity identifies an object that deploys the tree.
type appIdentity struct {
	kind, namespace, name, project, cluster string
	finds                                   string // the folders for which it creates Applications
}

// appIdentities returns the first object of each kind in a file, because those of one kind
// share namespace, project and cluster. It skips documents that it can't read.
func appIdentities(content []byte) []appIdentity {
	var all []appIdentity
	for _, text := range documents(content) {
		doc, err := yaml.Parse(string(text))
		if err != nil || slices.ContainsFunc(all, func(a appIdentity) bool { return a.kind == doc.GetKind() }) {
			continue
		}
		either := func(field string) string { // Flux has none of these
			own, _ := doc.GetString("spec." + field)
			ofSet, _ := doc.GetString("spec.template.spec." + field)
			return cmp.Or(own, ofSet)
		}
		cluster := cmp.Or(either("destination.server"), either("destination.name"))
		all = append(all, appIdentity{doc.GetKind(), doc.GetNamespace(), doc.GetName(), either("project"), cluster, generatorOf(doc)})
	}
	return all
}

// generatorOf returns the folders that the Git generator of an ApplicationSet finds, or "".
func generatorOf(doc *yaml.RNode) string {
	git, err := doc.Pipe(yaml.Lookup("spec", "generators", "0", "git"))
	if err != nil || git == nil {
		return ""
	}
	text := func(n *yaml.RNode, field string) string {
		s, _ := n.GetString(field)
		return s
	}
	found := []string{text(git, "repoURL") + " at " + text(git, "revision")}
	folders, err := git.Pipe(yaml.Lookup("directories"))
	if err != nil || folders == nil {
		return found[0]
	}
	elements, _ := folders.Elements()
	for _, f := range elements {
		if f.Field("exclude").IsNilOrEmpty() {
			found = append(found, text(f, "path"))
		}
	}
	return strings.Join(found, " ")
}
