// Package wellknown has the names that lynqctl and the Lynq operator agree on: labels,
// annotations, finalizers, the field manager, and how the names of records begin.
//
// Constants flow out, and answers about keys and names. The package reads and decides
// nothing, and imports no other package of the project.
package wellknown
