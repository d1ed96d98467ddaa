//go:build unix && !linux

package process

import "syscall"

// childAttributes put a child into its own process group. Only the reaper ensures that the
// child doesn't outlive its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
