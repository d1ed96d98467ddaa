// Package doctest keeps the documentation true: it reads pages of Markdown, finds
// what can be checked in them (links, calls of lynqctl, flags, blocks of code), and
// runs their examples.
//
// In a page
//
//	```sh        is for readers: only the calls of lynqctl in it are checked
//	```console   is run: lines behind "$ " are commands, what follows is what they
//	             print, on standard output and standard error. A line "..." stands
//	             for any number of lines
//	```LANG file=NAME   is a file, which the examples after it find. The steps of a
//	             recipe for a CI system are run as that would, and left in NAME.sh
//
// and these comments, which readers do not see:
//
//	<!-- session: local -->      the examples after it begin in an empty folder
//	<!-- session: cluster -->    the same, with a cluster and a namespace of their own
//	<!-- before COMMANDS -->     commands that are run there, and must succeed
//	<!-- recording ... -->       is for test/recordings
//
// A session may say "in FOLDER": it begins with a copy of that folder of the source
// tree; "in ." runs in the source tree itself, and must not change it. A command must succeed, unless the next one is "echo $?".
//
// Hubs are found by their names in the whole cluster, so each session gets names of
// its own: where pages say "crm" (a hub) and "shop" (a namespace), commands and files
// have those, and what is printed has them turned back.
//
// The package knows no command and no cluster; the tests of internal/lynqctl and test/e2e
// bring them.
package doctest
