// Package filewatch reports that files may have changed, from events of the file system.
//
// The directories to watch flow in, and which of their entries matter. The package asks for
// them again after each change, because directories come, go and get replaced. Reports of
// changes flow out, a moment after the first change, so that one report covers a file that
// is written in several steps.
//
// The package reads no file, and guarantees nothing. Some file systems have no events, such
// as network ones, and a system limits the number of watches. The caller must also check
// now and then.
package filewatch
