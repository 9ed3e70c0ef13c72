package engine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
	"warpbook/kernel/engine/stop"
)

// stdin replaces os.Stdin for compiled code that reads it for cells: the lines of
// Config.Stdin. All readers share its buffer, and one reads at a time.
type stdin struct {
	stop *stop.Stopper
	mu   sync.Mutex // held while one reads
	in   *bufio.Reader
}

func (s *stdin) Read(p []byte) (n int, err error) {
	s.alone(func() { n, err = s.in.Read(p) })
	return n, err
}

func (s *stdin) alone(read func()) {
	s.stop.Lock(&s.mu)
	defer s.mu.Unlock()
	read()
}

// registerStdin makes the functions that scan os.Stdin scan the lines of Config.Stdin,
// and returns a function that replaces a reader.
func (e *host) registerStdin() func(io.Reader) io.Reader {
	in, file := &stdin{stop: e.stop, in: bufio.NewReader(e.config.Stdin)}, os.Stdin
	reader := func(r io.Reader) io.Reader {
		if f, _ := r.(*os.File); f != nil && f == file {
			return in
		}
		return r
	}
	scan := func(r io.Reader, f func(io.Reader) (int, error)) (n int, err error) {
		if reader(r) != in {
			return f(r)
		}
		in.alone(func() { n, err = f(in.in) }) // it puts back a letter that was read too far
		return n, err
	}
	fscan := func(r io.Reader, a ...any) (int, error) {
		return scan(r, func(r io.Reader) (int, error) { return fmt.Fscan(r, a...) })
	}
	fscanln := func(r io.Reader, a ...any) (int, error) {
		return scan(r, func(r io.Reader) (int, error) { return fmt.Fscanln(r, a...) })
	}
	fscanf := func(r io.Reader, format string, a ...any) (int, error) {
		return scan(r, func(r io.Reader) (int, error) { return fmt.Fscanf(r, format, a...) })
	}
	for name, f := range map[string]any{
		"fmt.Scan":    func(a ...any) (int, error) { return fscan(file, a...) },
		"fmt.Scanln":  func(a ...any) (int, error) { return fscanln(file, a...) },
		"fmt.Scanf":   func(format string, a ...any) (int, error) { return fscanf(file, format, a...) },
		"fmt.Fscan":   fscan,
		"fmt.Fscanln": fscanln,
		"fmt.Fscanf":  fscanf,
	} {
		e.external(name, f)
	}
	return reader
}
