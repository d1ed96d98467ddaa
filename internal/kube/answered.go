package kube

import (
	"net/http"
	"strings"
)

// answered reports each request to o.Answered, if that is set.
func (o Options) answered(next http.RoundTripper) http.RoundTripper {
	if o.Answered == nil {
		return next
	}
	return answers{next, o.Answered}
}

type answers struct {
	next http.RoundTripper
	tell func(verb string, status int)
}

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	status := 0
	if err == nil {
		status = response.StatusCode
	}
	a.tell(apiVerb(r.Method, r.URL.Path, r.URL.Query().Get("watch") == "true"), status)
	return response, err
}

// apiVerb returns the verb of a request in the terms of Kubernetes' rules. For a path
// without a resource, such as the list of APIs, it is "get".
func apiVerb(method, path string, watch bool) string {
	one := named(path)
	switch method {
	case http.MethodGet:
		switch {
		case watch:
			return "watch"
		case one:
			return "get"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if one {
			return "delete"
		}
		return "deletecollection"
	}
	return strings.ToLower(method)
}

// named reports whether a path isn't that of all objects of a kind. A server may have its
// own prefix before the path of its API.
func named(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		switch {
		case p == "api":
			parts = parts[i+1:]
		case p == "apis" && len(parts) > i+1:
			parts = parts[i+2:]
		default:
			continue
		}
		if len(parts) < 2 {
			return true // the list of resources
		}
		parts = parts[1:]
		if parts[0] == "namespaces" && len(parts) > 2 {
			parts = parts[2:]
		}
		return len(parts) > 1
	}
	return true
}
