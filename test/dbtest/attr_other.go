//go:build !linux

package dbtest

import "syscall"

// attributes are empty: a killed test leaves its servers here.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// unprivileged does nothing, because tests don't run as root on these systems.
func unprivileged(*syscall.SysProcAttr, ...string) error { return nil }
