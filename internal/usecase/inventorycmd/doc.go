// Package inventorycmd holds the use cases of lynqctl inventory: list, show, verify, restore
// and rebuild.
//
// Options flow in. Inventories and findings flow out, and restore and rebuild write
// inventories. Both use one engine, recovery, which finds lost inventories, shows them, and
// writes one after the other. The package never creates or deletes objects of nodes.
package inventorycmd
