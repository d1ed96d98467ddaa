//go:build unix

package gitops

import (
	"errors"
	"os"
	"syscall"
)

// lock lets one run at a time write to a folder. The system releases the lock when the
// process ends, however it ends. File systems without locks give none: the index still
// tells that another run has written.
func lock(root *os.Root) (release func(), err error) {
	folder, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	release = func() { _ = folder.Close() } // it was only locked
	err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		release()
		return nil, errLocked
	}
	return release, nil
}
