// Package registry downloads charts from registries, and keeps them in a cache.
//
// Only lynqctl-chart links it. A digest in the form names the bytes, so neither a registry nor
// the cache can give another chart. It has an HTTP client of its own, because the helper takes
// the default one away from its other libraries.
package registry
