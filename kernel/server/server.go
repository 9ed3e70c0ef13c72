// Package server is the Jupyter side of the kernel: it listens on the five
// sockets of a connection file and answers every request of the messaging
// specification, handing code to the cells program through Cells.
//
// It runs no user code and holds no variables; it owns the sockets, the
// execution counts and the history. handlers.go lists the requests, each has a
// file of its own.
//
// Dispatchers answer requests in the order in which they came: one for each
// shell, and one for control, which never waits for a cell.
package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/uuid"

	"warpbook/kernel/frame"
	"warpbook/kernel/history"
	"warpbook/kernel/wire"
	"warpbook/kernel/zmtp"
)

// lastWords is how long closing sockets still send.
const lastWords = 2 * time.Second

// Cells is what the server needs of session.Session.
type Cells interface {
	Begin(code string, cell int, sink, answer func(frame.Event)) error
	Complete(ctx context.Context, code string, cursor int) (frame.Event, error)
	Inspect(ctx context.Context, code string, cursor int) (frame.Event, error)
	Interrupt()
	Reply(id uint64, text string)
	Refuse(id uint64, reason string)
	Kill()
	Close() error
}

// Server is one running kernel.
type Server struct {
	connection wire.Connection
	key        *wire.Key
	session    string // names this kernel in the headers of its messages
	log        *slog.Logger
	cells      Cells

	shell, control, stdin, iopub, heartbeat *zmtp.Socket // set before anything is received

	shells  shells
	prompt  *queue // of the control dispatcher
	past    past
	parents parents
	input   input
}

// New prepares a kernel for a connection.
func New(connection wire.Connection, h *history.History, log *slog.Logger) (*Server, error) {
	key, err := wire.NewKey(connection.Scheme, connection.Secret)
	if err != nil {
		return nil, err
	}
	s := &Server{
		connection: connection, key: key, session: uuid.NewString(), log: log,
		shells: shells{serve: (*call).serve, open: map[string]*shell{}}, prompt: newQueue(),
	}
	s.past = past{history: h, failed: func(err error) { s.debugf("server: %v", err) }}
	return s, nil
}

// Run serves until a client asks for the shutdown or ctx is cancelled, and
// closes cells. It returns an error only if it could not listen.
func (s *Server) Run(ctx context.Context, cells Cells) error {
	s.cells = cells
	defer cells.Close()
	ready := make(chan struct{})
	sockets, err := s.listen(ready)
	defer closeSockets(sockets)
	if err == nil {
		s.publish(nil, publication{"status", status{"starting"}})
		s.shells.start("")
	}
	close(ready)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, s.stop)()
	s.prompt.dispatch((*call).serve)
	cells.Kill() // ends the cells that shells may wait for
	cells.Close()
	s.shells.running.Wait()
	s.past.save()
	return nil
}

// stop has Run return.
func (s *Server) stop() {
	s.shells.stop()
	s.prompt.close()
}

// listen opens the sockets. What they receive waits for ready.
func (s *Server) listen(ready <-chan struct{}) ([]*zmtp.Socket, error) {
	receive := func(f func(*zmtp.Peer, [][]byte)) func(*zmtp.Peer, [][]byte) {
		return func(from *zmtp.Peer, frames [][]byte) {
			<-ready
			f(from, frames)
		}
	}
	var open []*zmtp.Socket
	for _, l := range []struct {
		socket  **zmtp.Socket
		port    int
		kind    zmq4.SocketType
		receive func(*zmtp.Peer, [][]byte)
	}{
		{&s.iopub, s.connection.IOPub, zmq4.XPub, nil},
		{&s.heartbeat, s.connection.Heartbeat, zmq4.Router, (*zmtp.Peer).Send},
		{&s.stdin, s.connection.Stdin, zmq4.Router, receive(s.receiveInput)},
		{&s.control, s.connection.Control, zmq4.Router, receive(s.receiveControl)},
		{&s.shell, s.connection.Shell, zmq4.Router, receive(s.receiveShell)},
	} {
		network, address := s.connection.Address(l.port)
		socket, err := zmtp.Listen(network, address, zmtp.Config{
			Type: l.kind, Receive: l.receive, Subscribe: s.welcome, Logf: s.debugf,
		})
		if err != nil {
			return open, err
		}
		*l.socket = socket
		open = append(open, socket)
	}
	return open, nil
}

// closeSockets closes them at once, since one that cannot get rid of its last
// words should not take away the others' time.
func closeSockets(sockets []*zmtp.Socket) {
	var closing sync.WaitGroup
	for _, socket := range sockets {
		closing.Go(func() { socket.Close(lastWords) })
	}
	closing.Wait()
}

// decode reads a message; one that is malformed or not signed with the key is
// logged and otherwise ignored.
func (s *Server) decode(frames [][]byte) (wire.Message, bool) {
	m, err := s.key.Decode(frames)
	if err != nil {
		s.debugf("%v", err)
	}
	return m, err == nil
}

func (s *Server) debugf(format string, args ...any) { debugf(s.log, format, args...) }

func marshal(content any) json.RawMessage {
	data, err := json.Marshal(content)
	if err != nil {
		panic("server: encode content: " + err.Error()) // ours: every content is of JSON types
	}
	return data
}
