package rbac

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Account is the ServiceAccount that gets the permissions, zero for none.
type Account struct{ Namespace, Name string }

// ParseAccount reads NAMESPACE/NAME. "" means none.
func ParseAccount(text string) (Account, error) {
	if text == "" {
		return Account{}, nil
	}
	namespace, name, _ := strings.Cut(text, "/")
	if !naming.IsDNS1123Label(namespace) || !naming.IsDNS1123Subdomain(name) {
		return Account{}, fmt.Errorf("%q is not valid; write NAMESPACE/NAME", text)
	}
	return Account{Namespace: namespace, Name: name}, nil
}

// Manifests are roles for rules, and bindings of them to an account.
type Manifests struct {
	Rights
	name    string // of all roles and bindings
	account Account
	title   string // what the permissions are for
}

// NewManifests returns the manifests for purposes and hubs. Without a name, it makes one from the
// names of the hubs.
func NewManifests(rights Rights, purposes []Purpose, hubs []lynq.HubKey, name string, account Account) (*Manifests, error) {
	m := &Manifests{Rights: rights, name: name, account: account}
	var words, of []string
	for _, p := range purposes {
		words = append(words, string(p))
	}
	m.title = "What lynqctl needs for " + inWords(words)
	if name == "" {
		m.name = "lynqctl"
	}
	for _, h := range hubs {
		of = append(of, h.String())
		if name == "" {
			m.name += "-" + h.Namespace + "-" + h.Name
		}
	}
	m.title += " of hub " + inWords(of) + "."
	if !naming.IsDNS1123Subdomain(m.name) {
		return nil, fmt.Errorf("%q, made of the names of the hubs, is not a valid name", m.name)
	}
	return m, nil
}

// inWords joins words as people do.
func inWords(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

const apiGroup = "rbac.authorization.k8s.io"

// byNamespace returns the rules of each role in order, the ClusterRole first.
func (m *Manifests) byNamespace() [][]Rule {
	var roles [][]Rule
	for _, r := range m.Rules {
		if n := len(roles); n == 0 || roles[n-1][0].Namespace != r.Namespace {
			roles = append(roles, nil)
		}
		roles[len(roles)-1] = append(roles[len(roles)-1], r)
	}
	return roles
}

// YAML returns the manifests for kubectl apply, with comments that say what each rule is for.
func (m *Manifests) YAML() string {
	var b strings.Builder
	comment(&b, "", m.title)
	for _, note := range m.Notes {
		b.WriteString("#\n")
		comment(&b, "", note)
	}
	if m.account == (Account{}) {
		b.WriteString("#\n")
		comment(&b, "", "Nothing is bound: --service-account NAMESPACE/NAME adds bindings.")
	}
	for _, rules := range m.byNamespace() {
		m.role(&b, rules)
	}
	return b.String()
}

func (m *Manifests) role(b *strings.Builder, rules []Rule) {
	namespace, prefix := rules[0].Namespace, "Cluster"
	metadata := "{name: " + scalar(m.name) + "}"
	if namespace != "" {
		metadata, prefix = "{name: "+scalar(m.name)+", namespace: "+scalar(namespace)+"}", ""
	}
	fmt.Fprintf(b, "---\napiVersion: %s/v1\nkind: %sRole\nmetadata: %s\nrules:\n", apiGroup, prefix, metadata)
	said := ""
	for _, r := range rules {
		if why := r.Purpose(); why != said {
			comment(b, "  ", why)
			said = why
		}
		fmt.Fprintf(b, "  - apiGroups: %s\n    resources: %s\n", list(r.Group), list(r.Resource))
		if len(r.Names) > 0 {
			fmt.Fprintf(b, "    resourceNames: %s\n", list(r.Names...))
		}
		fmt.Fprintf(b, "    verbs: %s\n", list(r.Verbs...))
	}
	if m.account != (Account{}) {
		fmt.Fprintf(b, "---\napiVersion: %s/v1\nkind: %sRoleBinding\nmetadata: %s\nroleRef: {apiGroup: %s, kind: %sRole, name: %s}\nsubjects:\n  - {kind: ServiceAccount, name: %s, namespace: %s}\n",
			apiGroup, prefix, metadata, apiGroup, prefix, scalar(m.name), scalar(m.account.Name), scalar(m.account.Namespace))
	}
}

// comment writes a text in lines of limited length.
func comment(b *strings.Builder, indent, text string) {
	const width = 88
	line := indent + "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != indent+"#" {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// list returns a list in YAML.
func list(values ...string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = scalar(v)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// scalar returns a string in YAML, in quotes if it could be another type.
func scalar(s string) string {
	plain := regexp.MustCompile(`^[a-z][a-z0-9.-]*$`).MatchString(s)
	if !plain || slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, s) {
		return strconv.Quote(s)
	}
	return s
}

// JSON returns the manifests as one List, without the comments.
func (m *Manifests) JSON() (string, error) {
	type object map[string]any
	items := []object{}
	for _, rules := range m.byNamespace() {
		metadata, prefix := object{"name": m.name}, "Cluster"
		if namespace := rules[0].Namespace; namespace != "" {
			metadata["namespace"], prefix = namespace, ""
		}
		var policy []object
		for _, r := range rules {
			rule := object{"apiGroups": []string{r.Group}, "resources": []string{r.Resource}, "verbs": r.Verbs}
			if len(r.Names) > 0 {
				rule["resourceNames"] = r.Names
			}
			policy = append(policy, rule)
		}
		items = append(items, object{"apiVersion": apiGroup + "/v1", "kind": prefix + "Role", "metadata": metadata, "rules": policy})
		if m.account != (Account{}) {
			items = append(items, object{
				"apiVersion": apiGroup + "/v1", "kind": prefix + "RoleBinding", "metadata": metadata,
				"roleRef":  object{"apiGroup": apiGroup, "kind": prefix + "Role", "name": m.name},
				"subjects": []object{{"kind": "ServiceAccount", "name": m.account.Name, "namespace": m.account.Namespace}},
			})
		}
	}
	text, err := json.MarshalIndent(object{"apiVersion": "v1", "kind": "List", "items": items}, "", "  ")
	return string(text) + "\n", err
}
