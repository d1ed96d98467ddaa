//go:build !linux

package dbtest

import "syscall"

// attributes has nothing to say here: a killed test leaves its servers.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// unprivileged does nothing: on these systems tests do not run as root.
func unprivileged(*syscall.SysProcAttr, ...string) error { return nil }
