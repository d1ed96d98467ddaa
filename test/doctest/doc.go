// Package doctest keeps the documentation true. It reads pages of Markdown, checks their
// links, calls of lynqctl, flags and blocks of code, and runs their examples.
//
// In a page
//
//	```sh        is for readers: doctest only checks the calls of lynqctl in it
//	```console   is run: lines after "$ " are commands, and the lines below are
//	             their output, on standard output and standard error. A line "..."
//	             stands for any number of lines
//	```LANG file=NAME   is a file for the examples after it. doctest runs the steps
//	             of a recipe as a CI system does, and writes them to NAME.sh
//
// and these comments, which readers do not see:
//
//	<!-- session: local -->      the examples after it begin in an empty folder
//	<!-- session: cluster -->    the same, with a cluster and a namespace of their own
//	<!-- before COMMANDS -->     commands to run there, which must succeed
//	<!-- console EXAMPLES -->    a console block that only pictures show
//	<!-- recording ... -->, <!-- comment ... -->   are for test/recordings
//
// A session may say "in FOLDER": it begins with a copy of that folder of the source tree.
// "in ." runs in the source tree itself, and must not change it. A command must succeed,
// unless the next one is "echo $?".
//
// lynqctl finds hubs by their names in the whole cluster, so each session has its own
// names. doctest replaces "crm" (a hub) and "shop" (a namespace) in commands and files, and
// restores them in the output.
//
// Pages flow in, problems and outputs flow out. The package knows no command and no
// cluster. The tests of internal/command and test/e2e supply them.
package doctest
