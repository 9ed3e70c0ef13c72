package engine

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/visualfc/gid"

	"warpbook/kernel/engine/rewrite"
)

// reads lets an interrupt end a read of a pipe or a connection without a loss of data.
// The read continues in a goroutine of its own, and its data is for the next reader.
type reads struct {
	host  *host
	mu    sync.Mutex               // guards the fields below
	begun int                      // reads
	left  map[io.Reader][]*oneRead // interrupted reads that continue, in the order of their beginnings
}

// oneRead is a read that continues even if no goroutine waits for it.
type oneRead struct {
	number int
	done   chan struct{} // closes when the fields below are set
	data   []byte
	err    error

	failure any // what Read has panicked with
}

// read is r.Read(p) for a goroutine that may be stopped.
func (s *reads) read(r io.Reader, p []byte) (int, error) {
	if !mayBlock(r) {
		return r.Read(p)
	}
	return s.patiently(r, p)
}

// patiently is read of a reader that may wait, and can be a key of a map.
func (s *reads) patiently(r io.Reader, p []byte) (int, error) {
	if _, ours := s.host.ours.Load(gid.Get()); !ours || len(p) == 0 {
		return r.Read(p)
	}
	list := s.take(r)
	if list == nil {
		list = append(list, s.begin(r, len(p)))
	}
	i := s.await(list)
	if i < 0 {
		s.keep(r, list...)
		s.host.stop.Killed()
	}
	x := list[i]
	s.keep(r, slices.Delete(list, i, i+1)...)
	if x.failure != nil {
		panic(x.failure)
	}
	n := copy(p, x.data)
	if n < len(x.data) { // the stopped reader had a larger buffer
		s.keep(r, &oneRead{number: x.number, done: x.done, data: x.data[n:], err: x.err})
		return n, nil
	}
	return n, x.err
}

// begin begins a read of some bytes.
func (s *reads) begin(r io.Reader, n int) *oneRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	x := &oneRead{number: s.begun, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		defer func() { x.failure = recover() }() // a panic here would end the program
		buf := make([]byte, n)
		n, err := r.Read(buf)
		x.data, x.err = buf[:n], err
	}()
	return x
}

// await waits until one of some reads is done, and returns its index, -1 at a stop.
func (s *reads) await(list []*oneRead) int {
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.host.stop.Channel())}}
	for _, x := range list {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(x.done)})
	}
	if chosen, _, _ := reflect.Select(cases); chosen == 0 {
		return -1
	}
	return slices.IndexFunc(list, func(x *oneRead) bool {
		select {
		case <-x.done:
			return true
		default:
			return false
		}
	})
}

// take removes the interrupted reads of a reader.
func (s *reads) take(r io.Reader) []*oneRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.left[r]
	delete(s.left, r)
	return list
}

// keep keeps reads for the next reader. Several goroutines may have been stopped in a read.
func (s *reads) keep(r io.Reader, some ...*oneRead) {
	if len(some) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[r] = slices.SortedFunc(slices.Values(append(s.left[r], some...)), func(a, b *oneRead) int { return a.number - b.number })
}

// netPipe is the type of both ends of a net.Pipe.
var netPipe = reflect.TypeOf(first(net.Pipe()))

func first[A, B any](a A, _ B) A { return a }

// mayBlock reports whether a read of x, or a write to it, may wait for another goroutine or
// process. If so, x can be a key of a map, and has a method Close.
func mayBlock(x any) bool {
	switch x := x.(type) {
	case *io.PipeReader, *io.PipeWriter, *net.TCPConn, *net.UnixConn, *net.UDPConn, *net.IPConn, *tls.Conn:
		return true
	case *os.File:
		return fileMayBlock(x)
	}
	return reflect.TypeOf(x) == netPipe
}

// lastFile is the file that fileMayBlock was asked about last, and the answer. A loop that
// writes to a file asks each time, and the question is a system call.
var lastFile atomic.Pointer[struct {
	file   weak.Pointer[os.File]
	blocks bool
}]

// fileMayBlock reports whether a file is a pipe, a socket or a terminal.
func fileMayBlock(f *os.File) bool {
	this := weak.Make(f)
	if last := lastFile.Load(); last != nil && last.file == this {
		return last.blocks
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	blocks := info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeCharDevice) != 0
	lastFile.Store(&struct {
		file   weak.Pointer[os.File]
		blocks bool
	}{this, blocks})
	return blocks
}

// patient is a reader that compiled code reads for a cell.
type patient struct {
	io.Reader
	reads *reads
}

func (p patient) Read(b []byte) (int, error) { return p.reads.patiently(p.Reader, b) }

func (p patient) Close() error { return p.Reader.(io.Closer).Close() }

// registerReads makes functions that read for cells read the lines of Config.Stdin in
// place of os.Stdin, and stop without a loss of data if they wait for a pipe or a
// connection.
func (e *host) registerReads() {
	s := &reads{host: e, left: map[io.Reader][]*oneRead{}}
	stands := func(r io.Reader) io.Reader { return r }
	if e.config.Stdin != nil {
		stands = e.registerStdin()
	}
	reader := func(r io.Reader) io.Reader {
		if r = stands(r); mayBlock(r) {
			return patient{r, s}
		}
		return r
	}
	e.reader = reader
	e.body = func(r io.ReadCloser) io.ReadCloser { return patient{r, s} }
	for name, f := range map[string]any{
		rewrite.RuntimePath + ".Read": func(r any, p []byte) (int, error) { return s.read(r.(io.Reader), p) },
		"bufio.NewScanner":            func(r io.Reader) *bufio.Scanner { return bufio.NewScanner(reader(r)) },
		"bufio.NewReader":             func(r io.Reader) *bufio.Reader { return bufio.NewReader(reader(r)) },
		"bufio.NewReaderSize":         func(r io.Reader, size int) *bufio.Reader { return bufio.NewReaderSize(reader(r), size) },
		"io.ReadAll":                  func(r io.Reader) ([]byte, error) { return io.ReadAll(reader(r)) },
		"io.ReadFull":                 func(r io.Reader, p []byte) (int, error) { return io.ReadFull(reader(r), p) },
		"io.ReadAtLeast":              func(r io.Reader, p []byte, least int) (int, error) { return io.ReadAtLeast(reader(r), p, least) },
		"io.Copy":                     func(w io.Writer, r io.Reader) (int64, error) { return io.Copy(e.patiently(w), reader(r)) },
		"io.CopyN":                    func(w io.Writer, r io.Reader, n int64) (int64, error) { return io.CopyN(e.patiently(w), reader(r), n) },
		"encoding/json.NewDecoder":    func(r io.Reader) *json.Decoder { return json.NewDecoder(reader(r)) },
		"encoding/binary.Read":        func(r io.Reader, o binary.ByteOrder, data any) error { return binary.Read(reader(r), o, data) },
	} {
		e.external(name, f)
	}
}
