// Package files reads the files that -f names: files, directories with files, and standard
// input.
//
// Paths flow in; names and bytes flow out, and problems of what cannot be read. Digests
// tell whether the files are as before, and Places tell where a change of them shows. The
// package knows nothing of YAML, hubs or forms.
package files
