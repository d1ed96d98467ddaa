// Package complete answers shells that ask how a command line may go on. It goes by the names
// of flags and by what Use says of arguments.
package complete
