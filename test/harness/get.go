package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/jsonpath"
)

// Answer is the output of a program.
type Answer struct {
	Stdout, Stderr string
	Failed         bool // its exit code is 1
}

// Ask answers kubectl get without a process of kubectl, which costs more than the request.
// Tests ask a thousand times. Ask supports objects and lists of Kubernetes' own kinds,
// printed as names or by a JSONPath. For named objects, the names replace the table. For
// any other question, and through a proxy, known is false.
func (e *Env) Ask(ctx context.Context, args ...string) (a Answer, known bool) {
	q, ok := parseQuestion(args)
	if !ok || e.proxied {
		return Answer{}, false
	}
	if q.namespace == "" {
		q.namespace = e.Namespace
	}
	found, missing, err := e.find(ctx, q)
	switch {
	case err != nil, len(missing) > 0 && len(found) > 0:
		return Answer{}, false
	case len(missing) > 0 && !e.hasNamespace(ctx, q.namespace):
		return Answer{}, false // kubectl reports that
	case len(missing) > 0 && q.mayLack:
		return Answer{}, true
	case len(missing) > 0:
		return Answer{Stderr: strings.Join(missing, ""), Failed: true}, true
	}
	text, err := q.text(found)
	return Answer{Stdout: text}, err == nil
}

// hasNamespace reports whether a namespace exists.
func (e *Env) hasNamespace(ctx context.Context, name string) bool {
	if name == e.Namespace {
		return true
	}
	_, err := e.namespaces().Get(ctx, name, metav1.GetOptions{})
	return err == nil
}

// question is a parsed kubectl get.
type question struct {
	kinds     []string
	refs      []string // KIND/NAME; without any, all objects of each kind
	namespace string
	selectors metav1.ListOptions
	path      string // a JSONPath, "" for names
	mayLack   bool
}

// parseQuestion parses the arguments of kubectl. ok is false for unsupported ones.
func parseQuestion(args []string) (q question, ok bool) {
	if len(args) == 0 || args[0] != "get" {
		return question{}, false
	}
	var words []string
	format := ""
	for args = args[1:]; len(args) > 0; args = args[1:] {
		flag, value, inline := strings.Cut(args[0], "=")
		if !strings.HasPrefix(flag, "-") {
			words = append(words, args[0])
			continue
		}
		if flag == "--ignore-not-found" && !inline {
			q.mayLack = true
			continue
		}
		if !inline {
			if len(args) == 1 {
				return question{}, false
			}
			value, args = args[1], args[1:]
		}
		switch flag {
		case "-n", "--namespace":
			q.namespace = value
		case "-l", "--selector":
			q.selectors.LabelSelector = value
		case "--field-selector":
			q.selectors.FieldSelector = value
		case "-o", "--output":
			format = value
		default:
			return question{}, false
		}
	}
	var isPath bool
	if q.path, isPath = strings.CutPrefix(format, "jsonpath="); !isPath {
		q.path = ""
	}
	return q, q.about(words) && (isPath || format == "name" || format == "" && len(q.refs) > 0)
}

// about parses the words that select objects: KIND[,KIND], KIND NAME... or KIND/NAME...
func (q *question) about(words []string) bool {
	switch {
	case len(words) == 0:
		return false
	case strings.Contains(words[0], "/"):
		q.refs = words
	case len(words) == 1:
		q.kinds = strings.Split(words[0], ",")
	default:
		for _, name := range words[1:] {
			q.refs = append(q.refs, words[0]+"/"+name)
		}
	}
	for _, ref := range q.refs {
		if strings.Count(ref, "/") != 1 || strings.Contains(ref, ",") {
			return false
		}
	}
	return len(q.refs) == 0 || q.selectors == metav1.ListOptions{}
}

// find returns the objects, and kubectl's messages about missing ones.
func (a *access) find(ctx context.Context, q question) (found []unstructured.Unstructured, missing []string, err error) {
	for _, ref := range q.refs {
		kind, name, _ := strings.Cut(ref, "/")
		client, err := a.ownKind(q.namespace, kind)
		if err != nil {
			return nil, nil, err
		}
		obj, err := client.Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			found = append(found, *obj)
		case isMissing(err, name):
			missing = append(missing, fmt.Sprintf("Error from server (NotFound): %v\n", err))
		default:
			return nil, nil, err
		}
	}
	for _, kind := range q.kinds {
		client, err := a.ownKind(q.namespace, kind)
		if err != nil {
			return nil, nil, err
		}
		list, err := client.List(ctx, q.selectors)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, list.Items...)
	}
	return found, missing, nil
}

// isMissing reports whether an error says that no object has this name. For kinds that it
// doesn't serve, the server returns a similar error.
func isMissing(err error, name string) bool {
	answer, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && answer.Status().Details != nil && answer.Status().Details.Name == name
}

// ownGroups returns the groups of Kubernetes' own kinds. Others come and go with tests.
func ownGroups() []string {
	return []string{"", "apps", "batch", "policy", "rbac.authorization.k8s.io", "networking.k8s.io", "storage.k8s.io", "coordination.k8s.io"}
}

// ownKind returns the client for one of Kubernetes' own kinds.
func (a *access) ownKind(namespace, kind string) (dynamic.ResourceInterface, error) {
	mapping, err := a.mapper.KindFor(schema.ParseGroupResource(kind).WithVersion(""))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(ownGroups(), mapping.Group) {
		return nil, fmt.Errorf("%s is of group %s", kind, mapping.Group)
	}
	client, _, err := a.resource(namespace, kind+"/any")
	return client, err
}

// text returns kubectl's output for objects.
func (q *question) text(found []unstructured.Unstructured) (string, error) {
	if q.path == "" {
		var b strings.Builder
		for i := range found {
			kind := found[i].GroupVersionKind().GroupKind()
			b.WriteString(strings.ToLower(kind.String()) + "/" + found[i].GetName() + "\n")
		}
		return b.String(), nil
	}
	var data any
	if len(q.refs) == 1 {
		data = found[0].Object
	} else {
		items := make([]any, len(found))
		for i := range found {
			items[i] = found[i].Object
		}
		data = map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items}
	}
	parser := jsonpath.New("path").AllowMissingKeys(true)
	if err := parser.Parse(q.path); err != nil {
		return "", err
	}
	var out bytes.Buffer
	err := parser.Execute(&out, data)
	return out.String(), err
}
