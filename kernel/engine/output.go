package engine

import (
	"fmt"
	"io"
	"os"
)

// registerPrints makes functions that print to the standard streams print to the
// engine's streams.
func (e *host) registerPrints() {
	for name, f := range map[string]any{
		"fmt.Print":   func(a ...any) (int, error) { return fmt.Fprint(e.writer(os.Stdout), shallow(a)...) },
		"fmt.Println": func(a ...any) (int, error) { return fmt.Fprintln(e.writer(os.Stdout), shallow(a)...) },
		"fmt.Printf": func(format string, a ...any) (int, error) {
			return fmt.Fprintf(e.writer(os.Stdout), format, shallow(a)...)
		},
		"fmt.Fprint":   func(w io.Writer, a ...any) (int, error) { return fmt.Fprint(e.writer(w), shallow(a)...) },
		"fmt.Fprintln": func(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(e.writer(w), shallow(a)...) },
		"fmt.Fprintf": func(w io.Writer, format string, a ...any) (int, error) {
			return fmt.Fprintf(e.writer(w), format, shallow(a)...)
		},
	} {
		e.external(name, f)
	}
}

// writer is w, or the writer or the stream that stands for it. Cells may assign another file to
// os.Stdout, and may close the original file: the stream remains.
func (e *host) writer(w io.Writer) io.Writer {
	switch f, _ := w.(*os.File); {
	case f == nil:
	case f == e.stdout.file:
		return e.stdout
	case f == e.stderr.file:
		return e.stderr
	}
	return e.patiently(w)
}
