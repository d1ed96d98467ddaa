package lynq

import "fmt"

// APIResource is a kind of object as an API server serves it.
type APIResource struct {
	Group, Version, Kind string
	Plural               string // the resource's name in URLs
	Namespaced           bool
}

// APIVersion returns "apps/v1", or "v1" for the core group.
func (r APIResource) APIVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// GroupKind returns "Deployment.apps", or "ConfigMap" for the core group.
func (r Ref) GroupKind() string {
	if r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}

// GroupUnavailableError says that an extension of the API server doesn't answer, so that
// nobody knows whether it serves a kind of its group. Kind is "" if lynqctl asked for all
// kinds.
type GroupUnavailableError struct{ Group, Version, Kind string }

// Error implements error.
func (e *GroupUnavailableError) Error() string {
	about := ""
	if e.Kind != "" {
		about = "kind " + e.Kind + ": "
	}
	return fmt.Sprintf("%sthe API %s/%s isn't available, because the extension that serves it doesn't answer (see kubectl get apiservice %s.%s)",
		about, e.Group, e.Version, e.Version, e.Group)
}
