//go:build unix

package gitops

import (
	"errors"
	"os"
	"syscall"
)

// lock lets only one run write to a folder. The system releases the lock when the process
// ends in any way. Some file systems have no locks. The index still shows when another run
// has written.
func lock(root *os.Root) (release func(), err error) {
	folder, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	release = func() { _ = folder.Close() } // nothing was written
	err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		release()
		return nil, errLocked
	}
	return release, nil
}
