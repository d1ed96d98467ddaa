// Package diff says how an object would change, field by field, and why.
//
// An object flows in as it is, and as the server says that it would be, with the facts of the
// plan: whether lynqctl wants what it applied last, whether the form and lynqctl changed since
// then, and which columns of the row feed which field. Compare turns these into an Object: the
// fields with their causes, and both sides as YAML, without the parts that the server and
// lynqctl manage. Unified writes the sides as a diff, and Markdown a Report as a comment for a
// pull request.
//
// The package hides values of Secrets and of secret columns first, so nothing that it returns
// has one. It reads and writes nothing, and names no cause that nobody can know.
package diff
