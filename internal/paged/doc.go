// Package paged keeps bytes in a temporary file instead of the process's memory.
//
// A run of many nodes renders every manifest, and needs few of them again. Manifests flow
// in, and the same bytes flow out: the system reads them from the file when somebody looks
// at them. Only the owner may read the file, and no directory lists it. The package never
// interprets the bytes. If it can't use a file, it keeps them in memory.
package paged
