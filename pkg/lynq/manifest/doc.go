// Package manifest has manifests as JSON. A value or a written template becomes a body, and a
// body gets metadata that only a run knows, without being decoded. The package knows no policy
// and no cluster, and reads nothing.
package manifest
