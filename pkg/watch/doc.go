// Package watch decides when a cluster is to be looked at again: which changes of objects
// and of records matter, how long to wait after what failed, and for how long changes of an
// object start nothing that another client makes again and again.
//
// The metadata that watches tell of, and how rounds ended, flow in; that another round is
// due flows out. The package reads and writes nothing itself, and knows no plan.
package watch
