package process

import "syscall"

// childAttributes put a child into its own process group, and make the kernel kill it when
// the thread that started it ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
