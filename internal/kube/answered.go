package kube

import (
	"net/http"
	"strings"
)

// answered tells of each request that goes through it, where one asked for that.
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

// apiVerb is the verb that Kubernetes' rules call a request: one for a path that is no
// resource's, such as what a server serves, gets it.
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

// named tells whether a path is not that of all objects of a kind. A server may have a
// path of its own before that of its API.
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
			return true // what it serves
		}
		parts = parts[1:]
		if parts[0] == "namespaces" && len(parts) > 2 {
			parts = parts[2:]
		}
		return len(parts) > 1
	}
	return true
}
