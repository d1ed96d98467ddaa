package dbtest

import (
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"testing"
)

// CutProxy forwards connections to a server on this machine, and cuts each after that many
// bytes from the server. It returns its port, and ends with the test.
func CutProxy(t testing.TB, serverPort int, after int64) (port int) {
	t.Helper()
	return proxy(t, func(client net.Conn) { pass(client, serverPort, after, false) })
}

// StallProxy works like CutProxy, but keeps the connection open without sending more.
func StallProxy(t testing.TB, serverPort int, after int64) (port int) {
	t.Helper()
	return proxy(t, func(client net.Conn) { pass(client, serverPort, after, true) })
}

// proxy serves connections until the test ends.
func proxy(t testing.TB, serve func(client net.Conn)) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return int(netip.MustParseAddrPort(listener.Addr().String()).Port())
}

// pass serves one connection until a side closes it or the bytes are used up. With stall,
// it then waits until a side closes it.
func pass(client net.Conn, serverPort int, after int64, stall bool) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(serverPort)))
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var upward sync.WaitGroup
	upward.Go(func() {
		_, _ = io.Copy(server, client) // ends with either connection
		_ = server.Close()
	})
	_, _ = io.CopyN(client, server, after)
	if stall {
		upward.Wait()
	}
	_ = client.Close()
	_ = server.Close()
	upward.Wait()
}
