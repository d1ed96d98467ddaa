// Package wait reports the readiness of the objects that a run waits for.
//
// Watches of the cluster flow in, which all nodes of the run share. The readiness of
// objects flows out. The package never writes or deletes an object.
package wait
