//go:build unix && !linux

package process

import "syscall"

// childAttributes puts a child into its own process group. The reaper alone
// sees to it that the child does not outlive its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
