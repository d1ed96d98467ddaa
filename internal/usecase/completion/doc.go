// Package completion finds the names that a shell offers for the arguments and flags of
// commands.
//
// The command line flows in, names flow out. They come from inputs, the cluster and the
// kubeconfig. The package never reports an error, and writes nothing.
package completion
