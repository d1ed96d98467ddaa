package form

// Cases are the spellings of a word.
func Cases(word string) []string { return cases(word) }
