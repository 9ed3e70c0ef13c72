package engine

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"

	"github.com/visualfc/gid"
)

// patientWriter is a pipe, a connection or a file that cells, or compiled code for them,
// write to.
type patientWriter struct {
	host *host
	to   io.WriteCloser
}

// Write is that of the writer. One that a stop interrupts goes on, as reads do: the next
// reader of the other end gets its data.
func (w patientWriter) Write(p []byte) (n int, err error) {
	if _, ours := w.host.ours.Load(gid.Get()); !ours {
		return w.to.Write(p)
	}
	kept := bytes.Clone(p)
	w.host.stop.Await(func() { n, err = w.to.Write(kept) })
	return n, err
}

func (w patientWriter) Close() error { return w.to.Close() }

// flushed is the writer below a bufio.Writer, which keeps what it flushes if a stop
// interrupts Flush. The interrupted write goes on, so the next one leaves its bytes out.
type flushed struct {
	patientWriter
	above *bufio.Writer
	gone  int       // bytes of the buffer that interrupted calls have written
	left  *oneWrite // nil if none goes on
}

type oneWrite struct {
	done    chan struct{} // closes when the fields below are set
	n       int
	err     error
	failure any // what Write has panicked with
}

func (b *flushed) Write(p []byte) (n int, err error) {
	if b.above.Buffered() == 0 { // many bytes, past the buffer
		return b.patientWriter.Write(p)
	}
	for err == nil && b.gone < len(p) {
		if b.left == nil {
			b.left = b.begin(bytes.Clone(p[b.gone:]))
		}
		b.wait(b.left.done)
		x := b.left
		b.gone, err, b.left = b.gone+x.n, x.err, nil
		if x.failure != nil {
			panic(x.failure)
		}
	}
	n, b.gone = b.gone, 0
	return n, err
}

func (b *flushed) begin(p []byte) *oneWrite {
	x := &oneWrite{done: make(chan struct{})}
	go func() {
		defer close(x.done)
		defer func() { x.failure = recover() }() // a panic here would end the program
		x.n, x.err = b.to.Write(p)
	}()
	return x
}

// wait waits until a write is done. A stop ends the waits of cells.
func (b *flushed) wait(done <-chan struct{}) {
	if _, ours := b.host.ours.Load(gid.Get()); !ours {
		<-done
		return
	}
	select {
	case <-done:
	case <-b.host.stop.Channel():
		b.host.stop.Killed()
	}
}

// newWriter is bufio.NewWriterSize.
func (e *host) newWriter(w io.Writer, size int) *bufio.Writer {
	to, ok := e.patiently(w).(patientWriter)
	if !ok {
		return bufio.NewWriterSize(w, size)
	}
	b := &flushed{patientWriter: to}
	b.above = bufio.NewWriterSize(b, size)
	return b.above
}

// patiently is w, or the writer that stands for it if a write to it may wait. The streams
// of the program are always read.
func (e *host) patiently(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && (f == e.stdout.file || f == e.stderr.file) {
		return w
	}
	if c, ok := w.(io.WriteCloser); ok && mayBlock(w) {
		return patientWriter{e, c}
	}
	return w
}

// registerWrites makes writes to pipes, connections and files end when the cell is stopped.
func (e *host) registerWrites() {
	for name, f := range map[string]any{
		"(*io.PipeWriter).Write": func(w *io.PipeWriter, p []byte) (int, error) { return e.patiently(w).Write(p) },
		"(*net.TCPConn).Write":   func(c *net.TCPConn, p []byte) (int, error) { return e.patiently(c).Write(p) },
		"(*net.UnixConn).Write":  func(c *net.UnixConn, p []byte) (int, error) { return e.patiently(c).Write(p) },
		"(*os.File).Write":       func(f *os.File, p []byte) (int, error) { return e.fileWriter(f).Write(p) },
		"(*os.File).WriteString": func(f *os.File, s string) (int, error) { return io.WriteString(e.fileWriter(f), s) },
		"(*os.File).ReadFrom":    e.fileReadFrom,
	} {
		e.external(name, f)
	}
	e.method("Write", netPipe, func(c net.Conn, p []byte) (int, error) { return e.patiently(c).Write(p) })
}

// fileWriter is the writer that stands for a file; one that is nil fails as in Go.
func (e *host) fileWriter(f *os.File) io.Writer {
	if f == nil {
		return f
	}
	return e.patiently(f)
}

func (e *host) fileReadFrom(f *os.File, r io.Reader) (int64, error) {
	w := e.fileWriter(f)
	if r = e.reader(r); w == io.Writer(f) {
		return f.ReadFrom(r)
	}
	return io.Copy(w, r)
}
