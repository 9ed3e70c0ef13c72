package cell

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"
)

// stream is where cells print to: the file, or Config.Output.
type stream struct {
	engine *Engine
	name   string
	file   *os.File
}

func (s stream) Write(text []byte) (int, error) {
	if output := s.engine.config.Output; output != nil {
		return output(s.engine.Owner(), s.name, text)
	}
	return s.file.Write(text)
}

// Owner is the id of the cell that started the goroutine it is called on, 0 if
// that is not known: compiled code starts goroutines too.
func (e *Engine) Owner() uint64 {
	cell, _ := e.ours.Load(gid.Get())
	id, _ := cell.(uint64)
	return id
}

// registerPrints makes the functions that print to the standard streams print
// to the engine's.
func (e *Engine) registerPrints() {
	log.SetOutput(e.stderr)
	if p, ok := ixgo.LookupPackage("log"); ok { // cells have one of their own, as source
		p.Source = strings.Replace(p.Source, "var std = New(os.Stderr,", "func stderr() io.Writer\n\nvar std = New(stderr(),", 1)
	}
	for name, f := range map[string]any{
		"log.stderr":   func() io.Writer { return e.stderr },
		"fmt.Print":    func(a ...any) (int, error) { return fmt.Fprint(e.stdout, a...) },
		"fmt.Println":  func(a ...any) (int, error) { return fmt.Fprintln(e.stdout, a...) },
		"fmt.Printf":   func(format string, a ...any) (int, error) { return fmt.Fprintf(e.stdout, format, a...) },
		"fmt.Fprint":   func(w io.Writer, a ...any) (int, error) { return fmt.Fprint(e.writer(w), a...) },
		"fmt.Fprintln": func(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(e.writer(w), a...) },
		"fmt.Fprintf": func(w io.Writer, format string, a ...any) (int, error) {
			return fmt.Fprintf(e.writer(w), format, a...)
		},
	} {
		e.external(name, f)
	}
}

// writer is w, or the stream that stands for it.
func (e *Engine) writer(w io.Writer) io.Writer {
	switch f, _ := w.(*os.File); {
	case f == nil:
		return w
	case f == os.Stdout:
		return e.stdout
	case f == os.Stderr:
		return e.stderr
	}
	return w
}
