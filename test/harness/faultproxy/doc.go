// Package faultproxy stands between a client and a Kubernetes API server. It
// counts the requests, and does to chosen ones what networks and busy servers
// do: answers with an error, cuts the connection before or after the request
// took effect, delays, drops watches, lets the continue tokens of lists expire.
//
// Parse, Rule and Count are plain data and pure; Proxy is an http.Handler over
// them; Start gives it an address and a kubeconfig of its own.
//
// A rule names a verb as RBAC has it (get, list, watch, create, update, patch,
// delete, deletecollection) and a resource as kubectl has it ("deployments.apps",
// "pods/status", "configmaps"). Requests for no resource, such as discovery,
// have the path in its place ("/apis", "/version").
package faultproxy
