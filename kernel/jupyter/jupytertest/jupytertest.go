// Package jupytertest makes the connections on which tests start kernels. A kernel
// listens on ports that its test chooses before the kernel starts; on an address that
// no other program uses, no other program takes them meanwhile.
package jupytertest

import (
	"net"
	"os"
	"runtime"
	"testing"

	"warpbook/kernel/jupyter"
)

// Connection returns free ports of loopback, with a key.
func Connection(t testing.TB) jupyter.Connection {
	t.Helper()
	c := jupyter.Connection{Transport: "tcp", IP: loopback(), Secret: "secret", Scheme: "hmac-sha256"}
	for _, port := range []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.Heartbeat} {
		l, err := net.Listen("tcp", net.JoinHostPort(c.IP, "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after all have a port of their own
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return c
}

// loopback returns a loopback address of this process where the system has one for each,
// as Linux has, and elsewhere the usual one.
func loopback() string {
	if pid := os.Getpid(); runtime.GOOS == "linux" {
		return net.IPv4(127, byte(1+pid>>16&63), byte(pid>>8), byte(pid)).String()
	}
	return "127.0.0.1"
}
