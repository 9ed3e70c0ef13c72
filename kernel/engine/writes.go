package engine

import (
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
