package lynq

// APIResource is a kind of object as an API server serves it.
type APIResource struct {
	Group, Version, Kind string
	Plural               string // the resource's name in URLs
	Namespaced           bool
}

// APIVersion is "apps/v1", or "v1" for the core group.
func (r APIResource) APIVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// GroupKind is "Deployment.apps", or "ConfigMap" for the core group.
func (r Ref) GroupKind() string {
	if r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}
