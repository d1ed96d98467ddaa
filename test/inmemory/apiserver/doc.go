// Package apiserver is a Kubernetes API server in memory, for tests that run lynqctl so
// often that a real one is too slow. It speaks as much of the API as lynqctl and its tests
// use: discovery, lists, watches, creation, update, server-side apply, patches, and
// deletion with preconditions and finalizers. In the place of controllers, it collects
// garbage and completes Jobs, StatefulSets and claims, all of it within the request that
// is the cause.
//
// What it doesn't know: lists are one page, lists in objects are atomic for server-side
// apply, and no schema but that of names is checked. What passes here also has to pass on
// a real control plane, by fewer histories.
package apiserver
