// Package redact hides the values of secret columns in what people and logs see. A row's
// secret values and a text flow in, and the text without them flows out. A context can carry
// them to where errors are made. The package never keeps a value, and reads nothing.
package redact
