package lynq

import "unique"

// Shared returns the same text. Equal texts share their memory, as many objects have equal ones.
func Shared[T ~string](text T) T { return unique.Make(text).Value() }
