package controlplane

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// reservation keeps free ports for programs that can't choose one. It holds a bound socket
// for each. A program of the same user that sets SO_REUSEPORT can still listen on the port,
// and nobody else can.
type reservation struct{ files []*os.File }

// reserve returns n free loopback ports, and keeps them until close.
func reserve(n int) (*reservation, []int, error) {
	r := &reservation{}
	var found []int
	for range n {
		port, err := r.add()
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("reserving a port: %w", err), r.close())
		}
		found = append(found, port)
	}
	return r, found, nil
}

// add binds one more socket and returns its port.
func (r *reservation) add() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	unix.CloseOnExec(fd)
	r.files = append(r.files, os.NewFile(uintptr(fd), "reserved port"))
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	ip := [4]byte(net.ParseIP(loopback).To4())
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: ip}); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	addr, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("unexpected address %T", name)
	}
	return addr.Port, nil
}

func (r *reservation) close() error {
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
