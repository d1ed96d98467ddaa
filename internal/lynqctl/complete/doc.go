// Package complete answers shells that complete a command line. It reads the names of flags,
// and the arguments that Use names.
package complete
