// Package watchcmd is the command watch and those below it: its flags, the log and the table
// that it shows, and the signals on which it reads its files again.
package watchcmd
