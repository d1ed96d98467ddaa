// Package watch decides when which nodes are to be looked at again: which changes of
// objects and of records matter, which nodes have not come as far as rows and forms want,
// how long to wait after what failed, when files that someone writes count, and for how
// long changes of an object start nothing that another client makes again and again.
//
// The metadata that watches tell of, what nodes want, and how they ended, flow in; which of
// them are due flows out. The package reads and writes nothing itself, and knows no plan, but what one
// decides by of an object.
package watch
