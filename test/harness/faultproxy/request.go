package faultproxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is the meaning of one HTTP request to the API server.
type Request struct {
	Verb      string // in RBAC's terms
	Resource  string // "deployments.apps", "pods/status", or a path such as "/apis"
	Namespace string
	Name      string
	DryRun    bool
	Continue  bool // a further page of a list
	Manager   string
	// Renews is set if the holder of a Lease renews it. The number of renewals depends on
	// the time of a run.
	Renews bool
}

// Parse parses the method and address of a request.
func Parse(method string, u *url.URL) Request {
	query := u.Query()
	r := Request{
		DryRun:   query.Has("dryRun"),
		Continue: query.Get("continue") != "",
		Manager:  query.Get("fieldManager"),
	}
	group, rest, ok := splitVersion(strings.Split(strings.Trim(u.Path, "/"), "/"))
	if !ok {
		r.Verb, r.Resource = strings.ToLower(method), u.Path
		return r
	}
	// A namespace is an object, too: /namespaces/x is one, and /namespaces/x/pods is in
	// one.
	if len(rest) > 2 && rest[0] == "namespaces" && !slices.Contains([]string{"status", "finalize"}, rest[2]) {
		r.Namespace, rest = rest[1], rest[2:]
	}
	r.Resource = rest[0]
	if group != "" {
		r.Resource += "." + group
	}
	if len(rest) > 1 {
		r.Name = rest[1]
	}
	if len(rest) > 2 {
		r.Resource += "/" + strings.Join(rest[2:], "/")
	}
	if r.Resource == "namespaces" {
		r.Namespace = r.Name
	}
	r.Verb = verb(method, r.Name != "", isTrue(query, "watch"))
	return r
}

// splitVersion splits the group and version off a path. The rest begins with the resource.
// Paths for discovery, health and the like have none.
func splitVersion(path []string) (group string, rest []string, ok bool) {
	switch {
	case path[0] == "api" && len(path) > 2:
		return "", path[2:], true
	case path[0] == "apis" && len(path) > 3:
		return path[1], path[3:], true
	default:
		return "", nil, false
	}
}

// verb returns RBAC's verb for a method on a resource.
func verb(method string, named, watch bool) string {
	switch {
	case method == http.MethodGet && watch:
		return "watch"
	case method == http.MethodGet && named:
		return "get"
	case method == http.MethodGet:
		return "list"
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodDelete && !named:
		return "deletecollection"
	default:
		return strings.ToLower(method)
	}
}

// isTrue parses a boolean parameter, which may lack a value.
func isTrue(query url.Values, key string) bool {
	return query.Has(key) && !slices.Contains([]string{"false", "0"}, query.Get(key))
}
