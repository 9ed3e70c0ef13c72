// Package server is the Jupyter side of the kernel: it listens on the five sockets of a
// connection file and answers every request of the messaging specification, passing
// code to the cells program through Cells. Its main type is Server; the warpbook
// command runs it.
//
// It runs no user code, holds no variables, and must not import the engine; it owns the
// sockets, the execution counts and the history. handlers.go lists the requests, each
// in its own file.
//
// Dispatchers answer requests in the order of their arrival: one for each shell, and
// one for control, which never waits for a cell.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/uuid"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/history"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/leaf/trim"
	"warpbook/kernel/zmtp"
)

// lastWords is how long a closing socket may still send queued messages.
const lastWords = 2 * time.Second

// Cells is the client of the cells program: the part of cellproc.Client that the
// server calls.
type Cells interface {
	Begin(r cellproto.Request, sink, answer func(cellproto.Event)) error
	Ask(ctx context.Context, r cellproto.Request) (cellproto.Event, error)
	Interrupt()
	Reply(id uint64, text string)
	Refuse(id uint64, reason string)
	Close() error
}

// Server is one running kernel.
type Server struct {
	connection jupyter.Connection
	key        *jupyter.Key
	session    string // names this kernel in the headers of its messages
	log        *slog.Logger
	cells      Cells

	shell, control, stdin, iopub, heartbeat *zmtp.Socket  // set before listening is closed
	listening                               chan struct{} // closed when the sockets are open

	warnings warnings
	ends     sync.Once // logs the reason for the end
	host     hostTimes
	memory   trim.Heap
	debugs   debuggers

	shells  shells
	prompt  *queue // the control dispatcher's queue
	past    past
	parents parents
	input   input
}

// New prepares a kernel for a connection.
func New(connection jupyter.Connection, h *history.History, log *slog.Logger) (*Server, error) {
	key, err := jupyter.NewKey(connection.Scheme, connection.Secret)
	if err != nil {
		return nil, err
	}
	s := &Server{
		connection: connection, key: key, session: uuid.NewString(), log: log,
		shells: shells{serve: (*call).serve, open: map[string]*shell{}}, prompt: newQueue(), listening: make(chan struct{}),
	}
	if connection.Secret == "" && connection.Transport == "tcp" {
		log.Warn("the connection file has an empty key: any program that reaches " + connection.IP + " can run code in this kernel")
	}
	s.warnings.log = log
	s.past = past{history: h, failed: func(err error) { s.debugf("server: %v", err) }}
	return s, nil
}

// Run serves until a client asks for the shutdown or ctx is cancelled, and
// closes cells. It returns an error only if it could not listen.
func (s *Server) Run(ctx context.Context, cells Cells) error {
	s.cells = cells
	defer s.warnings.close()
	defer cells.Close()
	ready := make(chan struct{})
	sockets, err := s.listen(ready)
	defer closeSockets(sockets)
	if err == nil {
		close(s.listening)
		s.publish(nil, publication{msgType: "status", content: status{"starting"}})
		s.shells.start("")
	}
	close(ready)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { s.stop(context.Cause(ctx).Error()) })()
	s.prompt.dispatch((*call).serve)
	cells.Close() // also ends cells that the shells may wait for
	s.shells.running.Wait()
	s.past.save()
	return nil
}

// stop makes Run return. The first reason is logged.
func (s *Server) stop(reason string) {
	s.ends.Do(func() { s.log.Info("the kernel ends: " + reason) })
	s.shells.stop()
	s.prompt.close()
}

// listen opens the sockets. Received messages wait for ready.
func (s *Server) listen(ready <-chan struct{}) ([]*zmtp.Socket, error) {
	receive := func(f func(*zmtp.Peer, [][]byte) bool) func(*zmtp.Peer, [][]byte) bool {
		return func(from *zmtp.Peer, frames [][]byte) bool {
			<-ready
			return f(from, frames)
		}
	}
	budget := zmtp.NewBudget()
	var open []*zmtp.Socket
	for _, l := range []struct {
		socket  **zmtp.Socket
		port    int
		kind    zmq4.SocketType
		receive func(*zmtp.Peer, [][]byte) bool
		longest int // the longest message in bytes; 0: the socket's own limit
	}{
		{&s.iopub, s.connection.IOPub, zmq4.XPub, nil, subscriptionBytes},
		{&s.heartbeat, s.connection.Heartbeat, zmq4.Router, beat, beatBytes},
		{&s.stdin, s.connection.Stdin, zmq4.Router, receive(s.receiveInput), 0},
		{&s.control, s.connection.Control, zmq4.Router, receive(s.receiveControl), 0},
		{&s.shell, s.connection.Shell, zmq4.Router, receive(s.receiveShell), 0},
	} {
		network, address := s.connection.Address(l.port)
		socket, err := zmtp.Listen(network, address, zmtp.Config{
			Type: l.kind, Receive: l.receive, Subscribe: s.welcome, Left: s.left, MessageBytes: l.longest,
			Budget: budget, Logf: s.debugf, Warnf: s.warnf,
		})
		if err != nil {
			return open, err
		}
		*l.socket = socket
		open = append(open, socket)
	}
	return open, nil
}

// The longest messages on sockets that need no long ones.
const (
	subscriptionBytes = 64 << 10
	beatBytes         = 64 << 10
)

// beat echoes a heartbeat. Any client may send one.
func beat(from *zmtp.Peer, frames [][]byte) bool {
	from.Send(frames)
	return true
}

// closeSockets closes all sockets concurrently: a peer that does not read must not use
// up the time of the other sockets.
func closeSockets(sockets []*zmtp.Socket) {
	var closing sync.WaitGroup
	for _, socket := range sockets {
		closing.Go(func() { socket.Close(lastWords) })
	}
	closing.Wait()
}

// decode reads a message. It logs and drops one that is malformed or not signed with
// the key.
func (s *Server) decode(frames [][]byte) (jupyter.Message, bool) {
	m, err := s.key.Decode(frames)
	if err != nil {
		s.debugf("%v", err)
	}
	return m, err == nil
}

func (s *Server) debugf(format string, args ...any) { debugf(s.log, format, args...) }

// warnf logs that a peer was disconnected.
func (s *Server) warnf(format string, args ...any) { s.warnings.add(fmt.Sprintf(format, args...)) }
