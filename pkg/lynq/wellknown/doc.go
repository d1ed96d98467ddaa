// Package wellknown has the names that lynqctl and the Lynq operator share: labels,
// annotations, finalizers, the field manager, and prefixes of records' names.
//
// Constants and answers about keys and names flow out. The package reads and decides
// nothing, and imports no other package of the project.
package wellknown
