// Package formtest gives tests of trees for Git their forms: text of resources flows in,
// loaded forms flow out. It reads no file.
package formtest
