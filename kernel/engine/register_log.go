//go:build edited

package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"log/slog"
	"path"
	"reflect"
	"sync"

	"warpbook/kernel/engine/failure"
)

// Packages log and log/slog are compiled, so that their types are those of net/http and
// testing/slogtest. The calls that look for their caller are replaced: they would find the
// engine. Fatal would end the process.

// registerLog makes messages name the lines of cells, and Fatal an exit of the cell.
func (e *host) registerLog() {
	log.SetOutput(e.stderr)
	for name, end := range map[string]func(text string){
		"Print": func(string) {},
		"Panic": func(text string) { panic(text) },
		"Fatal": func(string) { panic(failure.Exit(1)) },
	} {
		printing := func(l *log.Logger, text string) {
			_ = e.output(l, 1, text) // as package log does
			end(text)
		}
		for kind, text := range map[string]func(a ...any) string{"": sprint, "ln": sprintln} {
			e.external("log."+name+kind, func(a ...any) { printing(log.Default(), text(a...)) })
			e.external("(*log.Logger)."+name+kind, func(l *log.Logger, a ...any) { printing(l, text(a...)) })
		}
		e.external("log."+name+"f", func(format string, a ...any) { printing(log.Default(), sprintf(format, a...)) })
		e.external("(*log.Logger)."+name+"f", func(l *log.Logger, format string, a ...any) { printing(l, sprintf(format, a...)) })
	}
	e.external("log.Output", func(depth int, text string) error { return e.output(log.Default(), depth, text) })
	e.external("(*log.Logger).Output", e.output)
}

// output is l.Output, with the place of a call of cells.
func (e *host) output(l *log.Logger, depth int, text string) error {
	place := logged{source: &slog.Source{}}
	if fr := e.caller(depth); fr != nil {
		place.source = sourceOf(fr)
	}
	defer e.logging(place)()
	return write(l, place.source, text)
}

// write prints a text that a call at a place of cells has made.
func write(l *log.Logger, at *slog.Source, text string) error {
	if l.Flags()&(log.Lshortfile|log.Llongfile) == 0 {
		return l.Output(0, text)
	}
	message, w := withPlace(l, at, text), l.Writer()
	mu := outputLock(l)
	mu.Lock()
	defer mu.Unlock()
	_, err := w.Write(message)
	return err
}

// withPlace is what a logger prints for a text, with a place before it.
func withPlace(l *log.Logger, at *slog.Source, text string) []byte {
	flags, prefix, file := l.Flags(), l.Prefix(), cmp.Or(at.File, "???")
	if flags&log.Lshortfile != 0 {
		file = path.Base(file)
	}
	place := fmt.Sprintf("%s:%d: ", file, at.Line)
	if flags&log.Lmsgprefix != 0 {
		place, prefix = place+prefix, ""
	}
	var b bytes.Buffer
	_ = log.New(&b, prefix, flags&^(log.Lshortfile|log.Llongfile)).Output(0, place+text) // a buffer has no errors
	return b.Bytes()
}

// outputLock is the lock that a logger holds while it writes.
func outputLock(l *log.Logger) sync.Locker {
	return (*sync.Mutex)(reflect.ValueOf(l).Elem().FieldByName("outMu").Addr().UnsafePointer())
}
