//go:build linux || darwin

package buffer

import (
	"os"
	"syscall"
)

// pagesWork is set if files can be memory on this system.
const pagesWork = true

// mapped returns a part of a file as memory, without reading it.
func mapped(f *os.File, offset int64, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), offset, size, syscall.PROT_READ, syscall.MAP_SHARED)
}
