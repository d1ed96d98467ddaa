// Package diff says how an object would change, field by field, and why.
//
// What flows in is an object as it is and as the server says it would be, and
// what a plan knows of it: whether what is wanted is what was applied last, whether
// the form and lynqctl still are what they were then, and which columns of a row
// feed which field. Compare makes an Object of that: fields with their causes, and
// both sides as YAML, without what the server and lynqctl keep for themselves.
// Unified writes the sides as a diff, Markdown a whole Report as a comment for a
// pull request.
//
// Values of Secrets and of secret columns are hidden at the entrance: nothing that leaves
// the package holds one. It reads and writes nothing, and tells no cause that cannot be
// known.
package diff
