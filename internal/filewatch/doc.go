// Package filewatch tells when files may have changed, by the events of the file system.
//
// Which directories are to be watched, and which of their entries matter, flows in, and is
// asked again after each change, since directories come, go and are replaced. That
// something changed flows out, a moment after it began to, so that what is written in
// several steps is looked at once.
//
// The package reads no file, and promises nothing: some file systems have no events, such
// as those on a network, and a system has only so many watches. What has to be noticed is
// looked at now and then as well.
package filewatch
