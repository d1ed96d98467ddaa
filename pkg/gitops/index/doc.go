// Package index reads and writes the index of a tree: the file that lists what lynqctl wrote
// there.
//
// An Index has an Entry for each file, with its digest, its node and its objects. Bytes flow
// into Decode, which refuses an index that was cut or that Git left with a conflict. They flow
// out of Index.Encode, the same ones for the same entries. A Scope tells which entries the hubs
// and forms of a run have a say on.
//
// The package opens no file and knows no layout. It keeps no value of a row.
package index
