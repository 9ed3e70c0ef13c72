//go:build edited

package engine

import (
	"context"
	"io"
	"log"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// registerStructuredLog makes the records of log/slog, and the handlers of JSON and text,
// name the lines of cells.
func (e *host) registerStructuredLog() {
	for name, level := range map[string]slog.Level{"Debug": slog.LevelDebug, "Info": slog.LevelInfo, "Warn": slog.LevelWarn, "Error": slog.LevelError} {
		e.external("log/slog."+name, func(msg string, args ...any) { e.log(slog.Default(), nil, level, msg, args...) })
		e.external("(*log/slog.Logger)."+name, func(l *slog.Logger, msg string, args ...any) { e.log(l, nil, level, msg, args...) })
		e.external("log/slog."+name+"Context", func(ctx context.Context, msg string, args ...any) { e.log(slog.Default(), ctx, level, msg, args...) })
		e.external("(*log/slog.Logger)."+name+"Context", func(l *slog.Logger, ctx context.Context, msg string, args ...any) { e.log(l, ctx, level, msg, args...) })
	}
	for name, f := range map[string]any{
		"log/slog.Log": func(ctx context.Context, level slog.Level, msg string, args ...any) {
			e.log(slog.Default(), ctx, level, msg, args...)
		},
		"log/slog.LogAttrs": func(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
			e.logAttrs(slog.Default(), ctx, level, msg, attrs...)
		},
		"(*log/slog.Logger).Log":      e.log,
		"(*log/slog.Logger).LogAttrs": e.logAttrs,
		"(log/slog.Record).Source":    e.recordSource,
		"log/slog.NewJSONHandler": func(w io.Writer, o *slog.HandlerOptions) *slog.JSONHandler {
			return slog.NewJSONHandler(w, e.withSource(o))
		},
		"log/slog.NewTextHandler": func(w io.Writer, o *slog.HandlerOptions) *slog.TextHandler {
			return slog.NewTextHandler(w, e.withSource(o))
		},
		"(*log/slog.JSONHandler).Handle": func(h *slog.JSONHandler, ctx context.Context, r slog.Record) error { return e.handle(h, ctx, r) },
		"(*log/slog.TextHandler).Handle": func(h *slog.TextHandler, ctx context.Context, r slog.Record) error { return e.handle(h, ctx, r) },
	} {
		e.external(name, f)
	}
	printing.Store(e)
	firstOutput()
}

// printing is the engine whose cells print by slog's first handler.
var printing atomic.Pointer[host]

// firstOutput makes slog's first handler print by the engine. It is called before a cell can
// choose another handler.
var firstOutput = sync.OnceFunc(func() {
	at := reflect.ValueOf(slog.Default().Handler()).Elem().FieldByName("output").Addr().UnsafePointer()
	*(*func(uintptr, []byte) error)(at) = func(pc uintptr, text []byte) error { return printing.Load().outputOf(pc, text) }
})

// log is l.Log.
func (e *host) log(l *slog.Logger, ctx context.Context, level slog.Level, msg string, args ...any) {
	e.emit(l, ctx, level, msg, func(r *slog.Record) { r.Add(args...) })
}

// logAttrs is l.LogAttrs.
func (e *host) logAttrs(l *slog.Logger, ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
	e.emit(l, ctx, level, msg, func(r *slog.Record) { r.AddAttrs(attrs...) })
}

// emit gives the handler of a logger a record with the place of the calling cell.
func (e *host) emit(l *slog.Logger, ctx context.Context, level slog.Level, msg string, add func(*slog.Record)) {
	if ctx == nil {
		ctx = context.Background()
	}
	if !l.Enabled(ctx, level) {
		return
	}
	var place logged
	if fr := e.caller(1); fr != nil {
		place = logged{fr.PC(), sourceOf(fr)}
	}
	r := slog.NewRecord(time.Now(), level, msg, place.pc)
	add(&r)
	defer e.logging(place)()
	_ = l.Handler().Handle(ctx, r) // as package slog does
}

// handle is h.Handle.
func (e *host) handle(h slog.Handler, ctx context.Context, r slog.Record) error {
	if r.PC != 0 && r.PC != e.handling().pc && *r.Source() == (slog.Source{}) {
		defer e.logging(logged{r.PC, e.sourceAt(r.PC)})()
	}
	return h.Handle(ctx, r)
}

// sourceAt is the place in cells that a program counter of one of their interpreters
// means.
func (e *host) sourceAt(pc uintptr) *slog.Source {
	for _, fr := range e.Stack(nil, mostFrames) {
		if function, file, line := fr.At(pc); line > 0 {
			return &slog.Source{Function: function, File: file, Line: line}
		}
	}
	return &slog.Source{}
}

// outputOf is the output of slog's first handler by package log.
func (e *host) outputOf(pc uintptr, text []byte) error {
	place := e.handling()
	if place.source == nil || place.pc != pc {
		place = logged{pc, e.sourceAt(pc)}
	}
	return write(log.Default(), place.source, string(text))
}

// recordSource is r.Source.
func (e *host) recordSource(r slog.Record) *slog.Source {
	found := r.Source()
	if found == nil {
		return nil
	}
	if *found == (slog.Source{}) && r.PC != e.handling().pc {
		return e.sourceAt(r.PC)
	}
	return e.inCells(found)
}

// inCells is the place in cells of the record that this goroutine handles, if the runtime
// has found nothing, or a function of the engine where package log has made the record.
func (e *host) inCells(found *slog.Source) *slog.Source {
	here := e.handling()
	if here.source != nil && (here.pc != 0 && *found == slog.Source{} || strings.HasPrefix(found.Function, "warpbook/kernel/engine.")) {
		return here.source
	}
	return found
}

// withSource are the options of a handler that prints places of cells.
func (e *host) withSource(o *slog.HandlerOptions) *slog.HandlerOptions {
	if o == nil || !o.AddSource {
		return o
	}
	own := *o
	own.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if s, ok := a.Value.Any().(*slog.Source); ok && s != nil && len(groups) == 0 && a.Key == slog.SourceKey {
			a.Value = slog.AnyValue(e.inCells(s))
		}
		if o.ReplaceAttr != nil {
			return o.ReplaceAttr(groups, a)
		}
		return a
	}
	return &own
}
