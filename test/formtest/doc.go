// Package formtest provides forms to tests of trees. It turns the text of resources into
// loaded forms, and reads no file.
package formtest
