package form

// Cases returns the spellings of a word.
func Cases(word string) []string { return cases(word) }
