// Package cli makes all commands behave alike. It refuses unknown words and flags with a
// suggestion. It sets missing flags from the environment. It gives help one form, and makes
// kubectl's plugin call itself as people call it.
//
// Commands of cobra flow in and behave like this from then on. The package never knows what
// a command does.
package cli
