// Package phrase puts values into sentences: counts with their nouns, quotes, and texts of one
// line. Numbers and texts flow in, and texts flow out. It knows no word of lynqctl, and reads
// nothing.
package phrase
