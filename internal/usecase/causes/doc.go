// Package causes finds out why objects don't get ready.
//
// An object's name flows in, one line flows out. The package reads the object, its pods and
// the warnings of its namespace. It never writes, and never fails a run.
package causes
