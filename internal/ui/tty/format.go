package tty

// Format is a value of -o.
type Format string

// The formats.
const (
	Table Format = "table" // a row per node that changed or failed
	Wide  Format = "wide"  // the same with more columns, and all problems
	Name  Format = "name"  // only the names of these nodes
	YAML  Format = "yaml"  // one document
	JSON  Format = "json"  // one event per line, from the start
	HTML  Format = "html"  // a page for a browser
)

// Tone says how good or bad an item is, which streams with colours show.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Worry
	Bad
)
