package dbtest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// attributes make a child die with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// unprivileged makes the child another user if this process is root, and gives that user
// the paths. PostgreSQL refuses to run as root.
func unprivileged(attr *syscall.SysProcAttr, paths ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		if other, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.ParseUint(other.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(other.Gid, 10, 32)
	if err != nil {
		return err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for _, path := range paths {
		if err := os.Chown(path, int(uid), int(gid)); err != nil {
			return err
		}
	}
	return nil
}
