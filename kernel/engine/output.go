package engine

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/goplus/ixgo"
)

// registerPrints makes the functions that print to the standard streams print
// to the engine's.
func (e *host) registerPrints() {
	log.SetOutput(e.stderr)
	if p, ok := ixgo.LookupPackage("log"); ok { // cells have one of their own, as source
		p.Source = strings.Replace(p.Source, "var std = New(os.Stderr,", "func stderr() io.Writer\n\nvar std = New(stderr(),", 1)
	}
	for name, f := range map[string]any{
		"log.stderr":   func() io.Writer { return e.stderr },
		"fmt.Print":    func(a ...any) (int, error) { return fmt.Fprint(e.writer(os.Stdout), a...) },
		"fmt.Println":  func(a ...any) (int, error) { return fmt.Fprintln(e.writer(os.Stdout), a...) },
		"fmt.Printf":   func(format string, a ...any) (int, error) { return fmt.Fprintf(e.writer(os.Stdout), format, a...) },
		"fmt.Fprint":   func(w io.Writer, a ...any) (int, error) { return fmt.Fprint(e.writer(w), a...) },
		"fmt.Fprintln": func(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(e.writer(w), a...) },
		"fmt.Fprintf": func(w io.Writer, format string, a ...any) (int, error) {
			return fmt.Fprintf(e.writer(w), format, a...)
		},
	} {
		e.external(name, f)
	}
}

// writer is w, or the stream that stands for it. Cells may give os.Stdout another
// file, and may close the one that it has: the stream goes on.
func (e *host) writer(w io.Writer) io.Writer {
	switch f, _ := w.(*os.File); {
	case f == nil:
		return w
	case f == e.stdout.file:
		return e.stdout
	case f == e.stderr.file:
		return e.stderr
	}
	return w
}
