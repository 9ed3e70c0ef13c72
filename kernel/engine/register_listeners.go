//go:build !js

package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"net/rpc"
	"reflect"
	"runtime"
)

// registerListeners makes an interrupt end the calls that accept connections. It closes
// their listener, so that the next run of the cell can listen at the same address.
func (e *host) registerListeners() {
	for name, f := range map[string]any{
		"net.Listen":                           e.listen,
		"net.ListenTCP":                        listening(e, net.ListenTCP),
		"net.ListenUnix":                       listening(e, net.ListenUnix),
		"(*net.ListenConfig).Listen":           e.listenConfigured,
		"crypto/tls.Listen":                    e.listenTLS,
		"(*net.TCPListener).Accept":            accepting(e, (*net.TCPListener).Accept),
		"(*net.TCPListener).AcceptTCP":         accepting(e, (*net.TCPListener).AcceptTCP),
		"(*net.UnixListener).Accept":           accepting(e, (*net.UnixListener).Accept),
		"(*net.UnixListener).AcceptUnix":       accepting(e, (*net.UnixListener).AcceptUnix),
		"net/http.ListenAndServe":              e.listenAndServe,
		"net/http.ListenAndServeTLS":           e.listenAndServeTLS,
		"net/http.Serve":                       func(l net.Listener, h http.Handler) error { return e.serve(&http.Server{Handler: h}, l) },
		"net/http.ServeTLS":                    e.serveTLSWith,
		"(*net/http.Server).Serve":             e.serve,
		"(*net/http.Server).ServeTLS":          e.serveTLS,
		"(*net/http.Server).ListenAndServe":    e.listenAndServeBy,
		"(*net/http.Server).ListenAndServeTLS": e.listenAndServeTLSBy,
		"net/rpc.Accept":                       func(l net.Listener) { e.acceptRPC(rpc.DefaultServer, l) },
		"(*net/rpc.Server).Accept":             e.acceptRPC,
	} {
		e.external(name, f)
	}
	for name, f := range e.packetReads() {
		e.external(name, f)
	}
	secure := reflect.TypeOf(tls.NewListener(nil, nil))
	e.method("Accept", secure, func(l net.Listener) (net.Conn, error) { return accepting(e, net.Listener.Accept)(l) })
}

// listening is a function that makes a listener.
func listening[A, L any](e *host, listen func(network string, address A) (L, error)) any {
	return func(network string, address A) (L, error) {
		e.listened.Store(true)
		return listen(network, address)
	}
}

// accepting is a method of a listener that accepts a connection.
func accepting[L net.Listener, C any](e *host, accept func(L) (C, error)) func(L) (C, error) {
	return func(l L) (c C, err error) {
		err = e.stop.Closing(l, func() error {
			c, err = accept(l)
			return err
		})
		return c, err
	}
}

func (e *host) listen(network, address string) (net.Listener, error) {
	e.listened.Store(true)
	return net.Listen(network, address)
}

func (e *host) listenConfigured(c *net.ListenConfig, ctx context.Context, network, address string) (net.Listener, error) {
	e.listened.Store(true)
	return c.Listen(ctx, network, address)
}

func (e *host) listenTLS(network, address string, c *tls.Config) (net.Listener, error) {
	e.listened.Store(true)
	return tls.Listen(network, address, c)
}

func (e *host) serve(s *http.Server, l net.Listener) error {
	return e.stop.Closing(l, func() error { return s.Serve(l) })
}

func (e *host) serveTLS(s *http.Server, l net.Listener, cert, key string) error {
	return e.stop.Closing(l, func() error { return s.ServeTLS(l, cert, key) })
}

func (e *host) serveTLSWith(l net.Listener, h http.Handler, cert, key string) error {
	return e.serveTLS(&http.Server{Handler: h}, l, cert, key)
}

func (e *host) listenAndServe(addr string, h http.Handler) error {
	return e.listenAndServeBy(&http.Server{Addr: addr, Handler: h})
}

func (e *host) listenAndServeTLS(addr, cert, key string, h http.Handler) error {
	return e.listenAndServeTLSBy(&http.Server{Addr: addr, Handler: h}, cert, key)
}

func (e *host) listenAndServeBy(s *http.Server) error {
	l, err := net.Listen("tcp", cmp.Or(s.Addr, ":http"))
	if err != nil {
		return err
	}
	return e.serve(s, l)
}

func (e *host) listenAndServeTLSBy(s *http.Server, cert, key string) error {
	l, err := net.Listen("tcp", cmp.Or(s.Addr, ":https"))
	if err != nil {
		return err
	}
	defer l.Close()
	return e.serveTLS(s, l, cert, key)
}

// acceptRPC is s.Accept, which would print that an interrupt has closed the listener.
func (e *host) acceptRPC(s *rpc.Server, l net.Listener) {
	for {
		conn, err := accepting(e, net.Listener.Accept)(l)
		if err != nil {
			log.Print("rpc.Serve: accept:", err.Error())
			return
		}
		go s.ServeConn(conn)
	}
}

// freeListeners closes listeners that only functions held which a stop has ended. Package
// net closes one that is garbage. Frames that are kept for later calls hold values until
// the second collection.
func (e *host) freeListeners() {
	for range 3 {
		runtime.GC()
	}
}
