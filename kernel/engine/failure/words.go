package failure

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/brief"
	"warpbook/kernel/leaf/lazyregexp"
)

const (
	InterruptText = "the cell was stopped, its variables are kept"
	AbandonedText = "the cell is blocked in a compiled call, was given up and goes on when the call returns"
)

// ErrNilStore is Go's error for a store through a nil pointer.
var ErrNilStore = RuntimeError("runtime error: invalid memory address or nil pointer dereference")

// MaxText is the number of bytes of an error's text that a front end gets, and MaxValue
// that of one line. A notebook with more is slow to open.
const MaxText, MaxValue = 64 << 10, 4 << 10

// Shorten shortens a text and marks the cut.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return fmt.Sprintf("%s… (the first %d of %d bytes)", text[:most], most, len(text))
}

// RuntimeError is a run-time panic whose type in Go is a string.
type RuntimeError string

func (RuntimeError) RuntimeError() {}

func (e RuntimeError) Error() string { return string(e) }

// structError is a RuntimeError whose type in Go is no string: fmt.Print puts a space
// between it and another operand.
type structError struct{ text string }

func (structError) RuntimeError() {}

func (e structError) Error() string { return e.text }

// NewRuntimeError is the run-time panic with a text, as recover returns it.
func NewRuntimeError(text string) runtime.Error {
	for _, start := range []string{"runtime error: index out of range", "runtime error: slice bounds out of range", "runtime error: cannot convert slice", "interface conversion: "} {
		if strings.HasPrefix(text, start) {
			return structError{text}
		}
	}
	return RuntimeError(text)
}

// PanicText is the text of a panic for its value. It may call methods of cells.
func PanicText(value any) string {
	switch v := value.(type) {
	case ixgo.RuntimeError: // the prefix "runtime error: " may be missing or doubled
		text := strings.TrimPrefix(string(v), "runtime error: ")
		if strings.HasPrefix(text, "interface conversion: ") {
			_, is, _ := strings.Cut(text, " is ")
			if old, now, ok := strings.Cut(is, ", not "); ok && old == now {
				text += " (types of different cells)"
			}
			return text
		}
		return "runtime error: " + text
	case error, fmt.Stringer:
		return ofRegistry(TextOf(v))
	case string:
		return ofRegistry(v)
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Array, reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer: // they may contain themselves, or be in use
		return fmt.Sprintf("(%T) %s", value, brief.Cut(brief.Brief(v, 3), MaxValue))
	}
	return fmt.Sprint(value)
}

// registries are registries of the library that take a name once: the start of a panic, or a
// part of it, and what a cell that runs again does in its place.
var registries = []struct{ part, advice string }{
	{" flag redefined: ", "set it with flag.Set, or use a flag.NewFlagSet of the cell, which can run again"},
	{"sql: Register called twice for driver ", "register it in a cell of its own, which runs once"},
	{"gob: registering duplicate types for ", "give the changed type another name"},
}

// samePattern matches the panic of a mux of net/http that gets a pattern again. The places are
// those of the call by package reflect.
var samePattern = lazyregexp.New(`^pattern ("[^"]*") \(registered at [^)]*\) conflicts with pattern ("[^"]*") \(registered at [^)]*\)`)

// ofRegistry adds advice to the panic of a registry: a compiled program fills it once, and a
// cell may have run before.
func ofRegistry(text string) string {
	if m := samePattern().FindStringSubmatch(text); m != nil && m[1] == m[2] {
		return fmt.Sprintf("http: pattern %s has a handler already: make the mux in the cell that adds its handlers, with http.NewServeMux, or declare the handler's function again", m[1])
	}
	for _, r := range registries {
		if strings.Contains(text, r.part) {
			return text + ": " + r.advice
		}
	}
	return text
}

// TextOf is the result of a value's Error or String method. A method that panics is
// named.
func TextOf(value any) (text string) {
	method := "Error"
	defer func() {
		switch v := Value(recover()).(type) {
		case nil:
		case string, runtime.Error, ixgo.RuntimeError:
			text = fmt.Sprintf("(%T, whose method %s panics: %v)", value, method, v)
		default:
			text = fmt.Sprintf("(%T, whose method %s panics)", value, method)
		}
	}()
	switch v := value.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		method = "String"
		return v.String()
	}
	return ""
}
