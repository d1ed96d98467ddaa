// Package sighted notes which versions of objects were ready, so that the next run need
// not read those that did not change.
//
// Objects with their uids and versions flow in; a note of a bounded size flows out, which
// the next run compares with what it sees. Anybody who may change the record of a hub can
// forge a note. So a note spares reading what a run reports, and decides nothing: no
// object is written, deleted or waited for by it.
//
// The package reads and writes nothing.
package sighted
