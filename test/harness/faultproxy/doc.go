// Package faultproxy is a proxy between a client and a Kubernetes API server that counts
// requests and causes faults.
//
// Requests and rules flow in, answers and counts flow out. The proxy treats chosen requests
// like networks and busy servers do. It answers with an error, cuts the connection before
// or after the request took effect, delays, drops watches, or lets continue tokens expire.
// It never changes the content of a request.
//
// Parse, Rule and Count are plain data and pure. Proxy is an http.Handler that uses them.
// Start gives it an address and a kubeconfig.
//
// A rule names a verb of RBAC (get, list, watch, create, update, patch, delete,
// deletecollection) and a resource in kubectl's notation ("deployments.apps",
// "pods/status", "configmaps"). Requests without a resource, such as discovery, have the
// path instead ("/apis", "/version").
package faultproxy
