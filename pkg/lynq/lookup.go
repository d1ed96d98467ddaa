package lynq

import "strings"

// lookupPrefix begins the name of a lookup among columns.
const lookupPrefix = "lookup "

// LookupColumn returns the name of a lookup among the columns that feed a field.
func LookupColumn(lookup string) string { return lookupPrefix + lookup }

// IsLookupColumn reports whether a name among columns is that of a lookup.
func IsLookupColumn(column string) bool { return strings.HasPrefix(column, lookupPrefix) }
