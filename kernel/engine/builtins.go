package engine

import (
	"flag"
	"fmt"
	"go/token"
	"io"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"warpbook/kernel/engine/failure"
)

// offsetof is the offset of the last field of a path from x in its struct.
func offsetof(x any, path ...string) (offset uintptr) {
	t := reflect.TypeOf(x)
	for _, name := range path {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		f, _ := t.FieldByName(name)
		offset = 0
		for _, i := range f.Index { // through embedded structs
			offset += t.Field(i).Offset
			t = t.Field(i).Type
		}
	}
	return offset
}

// notNil converts the argument of panic: a nil becomes a runtime.PanicNilError.
func notNil(v any) any {
	if v == nil {
		return new(runtime.PanicNilError)
	}
	return v
}

// dropped warns of an error that a statement of a cell drops, once for each statement.
func (e *host) dropped(pos int, err error) {
	if _, again := e.warned.LoadOrStore(pos, true); !again {
		text, _, _ := strings.Cut(failure.Shorten(err.Error(), failure.MaxValue), "\n")
		fmt.Fprintf(e.stderr, "warning: %s drops an error: %s; handle it, or assign it to _\n", e.placeOf(token.Pos(pos)), text)
	}
}

// newFlagSet reports a wrong flag as an error of the cell: package flag is compiled, and
// its os.Exit would end the process.
func newFlagSet(name string, handling flag.ErrorHandling) *flag.FlagSet {
	if handling == flag.ExitOnError {
		handling = flag.PanicOnError
	}
	return flag.NewFlagSet(name, handling)
}

// printBuiltin implements the builtin functions print and println.
func (e *host) printBuiltin(args []any, line bool) {
	var b strings.Builder
	for i, a := range args {
		if line && i > 0 {
			b.WriteByte(' ')
		}
		v := reflect.ValueOf(a)
		switch v.Kind() {
		case reflect.Invalid:
			b.WriteString("(0x0,0x0)") // an interface
		case reflect.Float32:
			b.WriteString(builtinFloat(v.Float(), 32))
		case reflect.Float64:
			b.WriteString(builtinFloat(v.Float(), 64))
		case reflect.Complex64:
			b.WriteString(builtinComplex(v.Complex(), 32))
		case reflect.Complex128:
			b.WriteString(builtinComplex(v.Complex(), 64))
		case reflect.Pointer, reflect.Chan, reflect.Func, reflect.Map, reflect.UnsafePointer:
			fmt.Fprintf(&b, "0x%x", v.Pointer())
		case reflect.Slice:
			fmt.Fprintf(&b, "[%d/%d]0x%x", v.Len(), v.Cap(), v.Pointer())
		case reflect.String:
			b.WriteString(v.String())
		default:
			fmt.Fprint(&b, a)
		}
	}
	if line {
		b.WriteByte('\n')
	}
	io.WriteString(e.stderr, b.String())
}

// builtinFloat formats a number as println does since Go 1.26.
func builtinFloat(f float64, bits int) string {
	return strconv.FormatFloat(f, 'g', -1, bits)
}

func builtinComplex(c complex128, bits int) string {
	im := builtinFloat(imag(c), bits)
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return "(" + builtinFloat(real(c), bits) + im + "i)"
}
