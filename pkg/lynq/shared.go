package lynq

import "unique"

// Shared returns the same text. Equal texts share their memory, so that many objects keep
// what is the same in all of them once.
func Shared[T ~string](text T) T { return unique.Make(text).Value() }
