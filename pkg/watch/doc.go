// Package watch decides when lynqctl looks at which nodes again. It knows which changes of
// objects and records matter, and which nodes don't yet match their rows and forms. It
// knows how long to wait after a failure, and when files that someone writes count. It
// also knows for how long to ignore an object that another client changes again and again.
//
// Metadata from watches, the wishes of nodes, and their ends flow in. The nodes that are due
// flow out. The package reads and writes nothing itself.
package watch
