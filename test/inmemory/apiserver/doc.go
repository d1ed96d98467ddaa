// Package apiserver is a Kubernetes API server in memory, for tests that run lynqctl too
// often for a real one.
//
// Requests flow in, answers flow out, without a network. It supports the parts of the API
// that lynqctl and its tests use. These are discovery, lists, watches, creation, update,
// server-side apply, patches, and deletion with preconditions and finalizers. It refuses
// writes of lynqctl that no real server refuses, and that a race would make wrong. It also
// replaces controllers: it collects garbage, and completes Jobs, StatefulSets and claims,
// within the request that causes this.
//
// Lists have only one page. Server-side apply treats lists in objects as atomic. It checks
// names, and no other schema. A test that passes here must also pass on a real control
// plane, with fewer histories.
package apiserver
