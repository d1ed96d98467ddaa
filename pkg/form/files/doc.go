// Package files reads the files that -f names. These are files, directories, and standard
// input.
//
// It takes paths, and returns names, bytes and problems. Digests show whether files have
// changed, and Places show where to watch for changes. The package knows nothing about
// YAML, hubs or forms.
package files
