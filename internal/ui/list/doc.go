// Package list prints what commands found: lists, the details of one thing, and trees.
//
// A List has columns and items. People read the items' cells, and programs read their plain
// data. Print writes a List in the requested format: as a table that fits the terminal, as
// names, JSON, YAML, a page, or by a template. Details have facts about one thing, and
// lists of its parts. A Feed appends items as they come.
//
// Items flow in, and text flows out to a tty.Stream, which escapes it. The package reads no
// terminal and no cluster. It doesn't know what an item is.
package list
