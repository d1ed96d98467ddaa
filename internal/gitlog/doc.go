// Package gitlog reads the versions of a file from Git.
//
// The name of a file flows in, its versions flow out. The package runs the program git, which
// runs no other program then and uses no network. Without git or a repository, there are no
// versions: they only add to what the user sees, so they never fail a run.
package gitlog
