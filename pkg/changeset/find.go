package changeset

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Code names a finding: a kind of change that a reviewer must know of.
type Code string

// The findings of one change, the worst first. docs/findings.md explains them.
const (
	NamespaceContents Code = "namespace-contents" // the server deletes everything in a Namespace with it
	DataLoss          Code = "data-loss"          // an object that holds data is deleted
	ImmutableField    Code = "immutable-field"    // the object is deleted and created again
	RetainEnds        Code = "retain-ends"        // deletionPolicy no longer keeps an object
	HoldsDataEnds     Code = "holds-data-ends"    // guards no longer count an object's data
	OnceEnds          Code = "once-ends"          // manual changes of an object are overwritten
	ForceBegins       Code = "force-begins"       // fields of other managers are taken over
	ClaimShrinks      Code = "claim-shrinks"      // a claim asks for less storage
	RightsGrow        Code = "rights-grow"        // somebody may do more than before
	SelectorChanges   Code = "selector-changes"   // other pods are selected
	PodsRestart       Code = "pods-restart"       // a pod template changes
	ImageUnpinned     Code = "image-unpinned"     // an image without a version
	// ManySame is a finding about a group: most nodes change in the same way.
	ManySame Code = "many-same"
)

// Level says how much a finding matters.
type Level string

// The levels.
const (
	Danger  Level = "danger" // something is lost, or somebody gets rights
	Warning Level = "warning"
	Info    Level = "info"
)

// Explained is a finding's code with its level and what it means.
type Explained struct {
	Code  Code
	Level Level
	// What completes "N objects: ".
	What string
}

// Codes lists all findings, the worst first.
func Codes() []Explained {
	return []Explained{
		{NamespaceContents, Danger, "everything in the namespace is deleted with it"},
		{DataLoss, Danger, "the object's data is deleted with it"},
		{RightsGrow, Danger, "somebody gets more permissions"},
		{ClaimShrinks, Danger, "the claim asks for less storage, which servers refuse"},
		{RetainEnds, Warning, "its deletionPolicy no longer keeps the object when the node or resource goes"},
		{HoldsDataEnds, Warning, "guards no longer count the object as one that holds data"},
		{OnceEnds, Warning, "the object follows its form again, so manual changes of it are overwritten"},
		{ForceBegins, Warning, "lynqctl takes over fields and objects of other managers"},
		{ImmutableField, Warning, "the object is deleted and created again"},
		{SelectorChanges, Warning, "other pods are selected"},
		{PodsRestart, Warning, "pods restart"},
		{ImageUnpinned, Warning, "the image has no version"},
		{ManySame, Info, "most nodes change in the same way"},
	}
}

// rank orders codes as Codes does.
func rank(c Code) int {
	return slices.IndexFunc(Codes(), func(e Explained) bool { return e.Code == c })
}

// Effects has what a plan knows of a change beside its fields.
type Effects struct {
	// Contents is set if the server deletes everything in the object with it. Data is set if
	// the deletion of the object loses data.
	Contents, Data bool
	// Recreates is set if lynqctl deletes the object and creates it again.
	Recreates bool
	// Unkept is set if the object's deletionPolicy keeps it in fewer cases than before.
	Unkept bool
	// Unheld is set if the object's holdsData ends, Rewritten if its creationPolicy Once ends,
	// and Forced if its conflictPolicy Force begins.
	Unheld, Rewritten, Forced bool
}

// Find returns the findings of a change, the worst first. next is the object after the
// change, nil if the change deletes it.
func Find(c *Change, e Effects, next map[string]any) []Code {
	var found []Code
	add := func(code Code, is bool) {
		if is {
			found = append(found, code)
		}
	}
	add(NamespaceContents, e.Contents)
	add(DataLoss, e.Data)
	add(RightsGrow, next != nil && rightsGrow(c))
	add(ClaimShrinks, slices.ContainsFunc(c.Fields, shrinks))
	add(RetainEnds, e.Unkept)
	add(HoldsDataEnds, e.Unheld)
	add(OnceEnds, e.Rewritten)
	add(ForceBegins, e.Forced)
	add(ImmutableField, e.Recreates)
	add(SelectorChanges, slices.ContainsFunc(c.Fields, selects))
	add(PodsRestart, workload(c.Kind) && slices.ContainsFunc(c.Fields, inPodTemplate))
	add(ImageUnpinned, next != nil && unpinned(c, next))
	return found
}

// creates reports whether the object is new, in a cluster or in a tree.
func (c *Change) creates() bool { return c.Action == "create" || c.Action == "added" }

// rightsGrow reports whether a change of RBAC can give somebody more permissions. A new
// object has no fields: all of it is new.
func rightsGrow(c *Change) bool {
	if c.Group != "rbac.authorization.k8s.io" {
		return false
	}
	if len(c.Fields) == 0 {
		return c.creates()
	}
	return slices.ContainsFunc(c.Fields, func(f Field) bool {
		return f.Op != "remove" && hasAnyPrefix(f.Path, ".rules", ".subjects", ".roleRef", ".aggregationRule") && !onlyFewer(f.Before, f.After)
	})
}

// onlyFewer reports whether a list only lost items.
func onlyFewer(before, after any) bool {
	b, was := before.([]any)
	a, is := after.([]any)
	if !was || !is {
		return false
	}
	had := map[string]bool{}
	for _, item := range b {
		had[text(item)] = true
	}
	return !slices.ContainsFunc(a, func(item any) bool { return !had[text(item)] })
}

func shrinks(f Field) bool {
	if !strings.HasSuffix(f.Path, ".resources.requests.storage") {
		return false
	}
	before, err := resource.ParseQuantity(plainText(f.Before))
	after, err2 := resource.ParseQuantity(plainText(f.After))
	return err == nil && err2 == nil && after.Cmp(before) < 0
}

func selects(f Field) bool {
	return hasAnyPrefix(f.Path, ".spec.selector", ".spec.podSelector")
}

func workload(kind string) bool {
	return slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "ReplicationController"}, kind)
}

func inPodTemplate(f Field) bool { return hasAnyPrefix(f.Path, ".spec.template") }

// unpinned reports whether a change sets an image without a version: one of the changed
// fields, or any of a new object.
func unpinned(c *Change, next map[string]any) bool {
	if len(c.Fields) == 0 {
		return c.creates() && anyImage(next)
	}
	return slices.ContainsFunc(c.Fields, func(f Field) bool {
		if strings.HasSuffix(f.Path, ".image") {
			image, ok := f.After.(string)
			return ok && floating(image)
		}
		return inPodTemplate(f) && anyImage(f.After)
	})
}

// anyImage reports whether a container in a value has an image without a version.
func anyImage(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		image, ok := v["image"].(string)
		_, named := v["name"].(string)
		if ok && named && floating(image) {
			return true
		}
		for _, child := range v {
			if anyImage(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, anyImage)
	}
	return false
}

// floating reports whether an image can change under its name: it has neither a digest nor
// a tag other than latest.
func floating(image string) bool {
	if image == "" || strings.Contains(image, "@") {
		return false
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, tagged := strings.Cut(name, ":")
	return !tagged || tag == "latest"
}

func plainText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text(v)
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		rest, found := strings.CutPrefix(s, p)
		return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}
