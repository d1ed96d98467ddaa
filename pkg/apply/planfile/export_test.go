package planfile

// Seal returns the id of a file for a key, as a forger makes it.
func (k Key) Seal(f *File) (string, error) { return k.seal(f) }
