package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// nameForm is the syntax of a kind's names.
type nameForm uint8

const (
	nameSubdomain nameForm = iota // DNS-1123 subdomain
	nameLabel                     // DNS-1123 label
	namePath                      // any segment of a URL's path
)

// maxLabelValue is the longest value of a label, and the longest name of a host.
const maxLabelValue = 63

// nameRule is the rule of Kubernetes for a kind's names.
type nameRule struct {
	form nameForm
	max  int
	what string // "name" or "namespace"
	why  string // why names cannot be as long as others, or ""
	// reserved are prefixes of names that lynqctl keeps for its own objects.
	reserved []string
}

// nameRuleOf returns the rule for a kind (Kubernetes, Object Names and IDs). CronJob and
// Job have lower length limits, because their controllers add suffixes.
func nameRuleOf(group, kind string) nameRule {
	r := nameRule{form: nameSubdomain, max: 253, what: "name", reserved: wellknown.ReservedNames(group, kind)}
	switch {
	case group == "" && (kind == "Namespace" || kind == "Service"):
		r.form, r.max = nameLabel, maxLabelValue
	case group == "batch" && kind == "CronJob":
		r.max, r.why = maxLabelValue-11, "its Jobs get names with 11 characters more"
	case group == "batch" && kind == "Job":
		r.max, r.why = maxLabelValue, "its Pods get a label with the name"
	case group == "rbac.authorization.k8s.io", group == "policy" && kind == "PodDisruptionBudget":
		r.form = namePath
	}
	return r
}

func namespaceRule() nameRule { return nameRule{form: nameLabel, max: 63, what: "namespace"} }

// reserves reports whether a name, or any longer one, has a reserved prefix.
func (r nameRule) reserves(name []byte) bool {
	for _, prefix := range r.reserved {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return false
}

func (r nameRule) reservedFix() string {
	return "choose a name that does not begin with " + strings.Join(r.reserved, ", ")
}

const reserved = "reserved for lynqctl's own records"

// accepts is the fast check for every rendered name.
func (r nameRule) accepts(name []byte) bool {
	switch r.form {
	case nameLabel:
		return len(name) <= r.max && naming.IsDNS1123Label(name)
	case namePath:
		return len(name) > 0 && len(name) <= r.max && len(content.IsPathSegmentName(string(name))) == 0
	}
	return len(name) <= r.max && naming.IsDNS1123Subdomain(name)
}

// refusal says why a name is invalid, and what is valid.
func (r nameRule) refusal(name string) (what, fix string) {
	switch {
	case name == "":
		return fmt.Sprintf("the %s is empty", r.what), ""
	case len(name) > r.max:
		what := fmt.Sprintf("%s %s has %d characters, at most %d are allowed", r.what, phrase.Quote(name), len(name), r.max)
		if r.why != "" {
			what += ", because " + r.why
		}
		return what, "shorten it, e.g. with " + cut(r.max)
	case r.form == namePath:
		return fmt.Sprintf("%s %s isn't valid in Kubernetes", r.what, phrase.Quote(name)), strings.Join(content.IsPathSegmentName(name), "; ")
	case r.form == nameLabel:
		return fmt.Sprintf("%s %s isn't valid in Kubernetes", r.what, phrase.Quote(name)), "use lowercase letters, digits, and '-', and start and end with a letter or digit"
	}
	return fmt.Sprintf("%s %s isn't valid in Kubernetes", r.what, phrase.Quote(name)), "use lowercase letters, digits, '-', and '.', and start and end with a letter or digit"
}

// cut returns the function that cuts a text to a length.
func cut(length int) string {
	if length == maxLabelValue {
		return "trunc63"
	}
	return fmt.Sprintf("trunc %d", length)
}

// checkNameText reports names that can never be valid. These are static names, and
// templates whose fixed text breaks the rule.
func (c *compiler) checkNameText(n *node, source string, rule nameRule, at place) {
	switch {
	case n.kind != document.String:
		return // the template has an error
	case n.slot == noSlot:
		if s := string(n.static); !rule.accepts([]byte(s)) {
			what, fix := rule.refusal(s)
			c.fail(at, fix, "%s", what)
		} else if rule.reserves(n.static) {
			c.fail(at, rule.reservedFix(), "%s %q is %s", rule.what, s, reserved)
		}
		return
	}
	if rule.form == namePath {
		return
	}
	length := 0
	for _, piece := range expr.FixedText(source) {
		if piece.First && rule.reserves([]byte(piece.Text)) {
			c.fail(at, rule.reservedFix(), "every row makes this a name that is %s", reserved)
			return
		}
		if bad, found := neverInName(piece, rule); found {
			_, fix := rule.refusal("-")
			c.fail(at, fix, "no row can make this a valid %s: it has %q in it", rule.what, bad)
			return
		}
		length += len(piece.Text)
	}
	if length > rule.max {
		c.fail(at, "shorten it", "no row can make this a valid %s: its fixed text alone has more than %d characters", rule.what, rule.max)
	}
}

// neverInName finds a part of a fixed piece that no name can have.
func neverInName(p expr.FixedPiece, rule nameRule) (string, bool) {
	s := p.Text
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		case r == '-', r == '.' && rule.form == nameSubdomain:
			if p.First && i == 0 || p.Last && i == len(s)-1 {
				return s[i : i+utf8.RuneLen(r)], true
			}
		default:
			return string(r), true
		}
	}
	return "", false
}

// checkKey reports keys of labels and annotations that Kubernetes refuses.
func (c *compiler) checkKey(key string, at place) {
	if reasons := validation.IsQualifiedName(key); len(reasons) > 0 {
		c.fail(at, strings.Join(reasons, "; "), "key %q isn't valid in Kubernetes", key)
	}
}

// checkStatic reports static label values that Kubernetes refuses, and keys that are too
// long for YAML.
func (c *compiler) checkStatic(r *resource) {
	r.labels = c.checkStaticLabels(r.labels)
	c.checkKeys(r.root)
}

// checkStaticLabels reports static label values that Kubernetes refuses, and returns the
// other labels.
func (c *compiler) checkStaticLabels(labels []checkedText) []checkedText {
	dynamic := labels[:0]
	for _, l := range labels {
		if l.node.slot != noSlot {
			dynamic = append(dynamic, l)
		} else if l.node.kind == document.String && !naming.IsLabelValue(l.node.static) {
			c.fail(l.at, labelFix, "%q cannot be the value of a label", l.node.static)
		}
	}
	return dynamic
}

const labelFix = "at most 63 letters, digits, dashes, underscores and dots, a letter or digit at both ends"

func (c *compiler) checkKeys(n *node) {
	for _, f := range n.fields {
		if len(scalar.AppendKey(nil, f.key)) > scalar.MaxKey {
			c.fail(c.place(c.res.Pos, "spec"), "", "a key has more than %d characters", scalar.MaxKey)
		}
		c.checkKeys(f.node)
	}
	for _, item := range n.items {
		c.checkKeys(item)
	}
}
