// Package helm reads Helm charts and renders them with Helm's own engine.
//
// Only lynqctl-chart links it, because Helm's libraries are large. It reads files only below
// the directory of a form, asks no cluster and no network, and renders the same values to the
// same bytes. Functions that return a new value every time are errors, once a template calls
// them.
package helm
