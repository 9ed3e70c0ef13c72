//go:build !js

package engine

import (
	"net"
	"net/netip"
	"time"
)

// packetReads are the functions that wait for a packet. An interrupt closes a connection
// without a peer, as it closes a listener: the next run of the cell must be able to listen
// at the same address. A connection with one peer stays.
func (e *host) packetReads() map[string]any {
	return map[string]any{
		"net.ListenUDP":      listening(e, net.ListenUDP),
		"net.ListenUnixgram": listening(e, net.ListenUnixgram),
		"net.ListenPacket": func(network, address string) (net.PacketConn, error) {
			e.listened.Store(true)
			return net.ListenPacket(network, address)
		},
		"(*net.UDPConn).ReadFrom":            receiving(e, (*net.UDPConn).ReadFrom),
		"(*net.UDPConn).ReadFromUDP":         receiving(e, (*net.UDPConn).ReadFromUDP),
		"(*net.UDPConn).ReadFromUDPAddrPort": receiving(e, (*net.UDPConn).ReadFromUDPAddrPort),
		"(*net.UDPConn).ReadMsgUDP": func(c *net.UDPConn, b, more []byte) (n, m, flags int, from *net.UDPAddr, err error) {
			err = e.untilPacket(c, func() error { n, m, flags, from, err = c.ReadMsgUDP(b, more); return err })
			return n, m, flags, from, err
		},
		"(*net.UDPConn).ReadMsgUDPAddrPort": func(c *net.UDPConn, b, more []byte) (n, m, flags int, from netip.AddrPort, err error) {
			err = e.untilPacket(c, func() error { n, m, flags, from, err = c.ReadMsgUDPAddrPort(b, more); return err })
			return n, m, flags, from, err
		},
		"(*net.UnixConn).ReadFrom":     receiving(e, (*net.UnixConn).ReadFrom),
		"(*net.UnixConn).ReadFromUnix": receiving(e, (*net.UnixConn).ReadFromUnix),
		"(*net.IPConn).ReadFrom":       receiving(e, (*net.IPConn).ReadFrom),
		"(*net.IPConn).ReadFromIP":     receiving(e, (*net.IPConn).ReadFromIP),
	}
}

// receiving is a method of a connection that receives a packet and its sender.
func receiving[C net.Conn, A any](e *host, read func(C, []byte) (int, A, error)) func(C, []byte) (int, A, error) {
	return func(c C, b []byte) (n int, from A, err error) {
		err = e.untilPacket(c, func() error { n, from, err = read(c, b); return err })
		return n, from, err
	}
}

// untilPacket calls wait, which a stop ends. A connection with a peer loses its deadline
// by that, another one is closed.
func (e *host) untilPacket(c net.Conn, wait func() error) error {
	if c.RemoteAddr() == nil {
		return e.stop.Closing(c, wait)
	}
	defer func() {
		if v := recover(); v != nil { // a stop
			c.SetReadDeadline(time.Time{})
			panic(v)
		}
	}()
	return e.stop.Closing(expiring{c}, wait)
}

// expiring is a connection whose reads a stop ends.
type expiring struct{ net.Conn }

func (x expiring) Close() error { return x.SetReadDeadline(time.Unix(1, 0)) }
