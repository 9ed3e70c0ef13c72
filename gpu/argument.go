package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
)

func checkArguments(l Launch, own func(Buffer) error) error {
	params := l.Entry.Params()
	if len(l.Args) != len(params) {
		return fmt.Errorf("%w: %d arguments, expected %d: %s", ErrArgument, len(l.Args), len(params), signature(params))
	}
	for i, p := range params {
		if err := checkArgument(p, l.Args[i], own); err != nil {
			return fmt.Errorf("argument %d, %s: %w", i, p.Name, err)
		}
	}
	return nil
}

// signature lists parameters as "x u64, n u32".
func signature(params []Param) string {
	var s []string
	for _, p := range params {
		s = append(s, p.Name+" "+p.kind())
	}
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ", ")
}

func (p Param) kind() string {
	switch {
	case p.Pointer:
		return "buffer"
	case p.Count > 1:
		return fmt.Sprintf("%s[%d]", p.Type, p.Count)
	}
	return p.Type
}

// compound reports whether the parameter is a struct by value, which PTX
// declares as an array of bytes.
func (p Param) compound() bool { return p.Count > 1 || p.Type == "b8" }

func checkArgument(p Param, arg any, own func(Buffer) error) error {
	switch a := arg.(type) {
	case nil:
		return fmt.Errorf("%w: nil, expected %s", ErrArgument, p.wanted())
	case Buffer:
		if !p.Pointer {
			return fmt.Errorf("%w: a buffer, expected %s", ErrArgument, p.wanted())
		}
		return own(a)
	case TensorMap:
		if p.Bytes != TensorMapBytes {
			return fmt.Errorf("%w: a tensor map, expected %s", ErrArgument, p.wanted())
		}
		return a.check(own)
	case Object:
		return checkObject(p, a)
	}
	if p.compound() {
		return checkCompound(p, arg, own)
	}
	return checkNumber(p, reflect.TypeOf(arg))
}

func checkNumber(p Param, t reflect.Type) error {
	switch k := t.Kind(); {
	case hostSized(k):
		return fmt.Errorf("%w: %v has the size of the host's, expected %s: use %s", ErrArgument, t, p.wanted(), p.remedy())
	case !isNumber(k):
		return fmt.Errorf("%w: %v, expected %s", ErrArgument, t, p.wanted())
	case int(t.Size()) != p.Bytes:
		return fmt.Errorf("%w: %v has %d bytes, expected %s", ErrArgument, t, t.Size(), p.wanted())
	case isFloat(k) != strings.HasPrefix(p.Type, "f") && !strings.HasPrefix(p.Type, "b"):
		return fmt.Errorf("%w: %v, expected %s", ErrArgument, t, p.wanted())
	}
	return nil
}

// checkCompound checks a struct, an array, a number or raw bytes for a
// parameter of bytes.
func checkCompound(p Param, arg any, own func(Buffer) error) error {
	if raw, ok := arg.([]byte); ok {
		if len(raw) != p.Bytes {
			return fmt.Errorf("%w: %d bytes, expected %s", ErrArgument, len(raw), p.wanted())
		}
		return nil
	}
	t := reflect.TypeOf(arg)
	bytes, align, err := layout(t)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %v%w, expected %s", ErrArgument, t, err, p.wanted())
	case bytes != p.Bytes:
		return fmt.Errorf("%w: %v has %d bytes as C lays it out, expected %s", ErrArgument, t, bytes, p.wanted())
	case align > p.Align:
		return fmt.Errorf("%w: %v is aligned to %d bytes, expected at most %d", ErrArgument, t, align, p.Align)
	}
	visit(addressable(arg), 0, func(_ int, v reflect.Value) {
		if b, ok := v.Interface().(Buffer); ok && err == nil {
			err = own(b)
		}
	})
	return err
}

var bufferType = reflect.TypeFor[Buffer]()

// layout is the size and alignment of a type as C lays it out: numbers are
// aligned to their size, and a Buffer is an address. The error goes on after
// the type's name.
func layout(t reflect.Type) (bytes, align int, err error) {
	switch k := t.Kind(); {
	case t == bufferType:
		return 8, 8, nil
	case isNumber(k):
		return int(t.Size()), int(t.Size()), nil
	case k == reflect.Array:
		bytes, align, err = layout(t.Elem())
		return bytes * t.Len(), align, err
	case k == reflect.Struct:
		align = 1
		for i := range t.NumField() {
			f := t.Field(i)
			n, a, err := layout(f.Type)
			if err != nil {
				return 0, 0, fmt.Errorf(".%s%w", f.Name, err)
			}
			bytes, align = roundUp(bytes, a)+n, max(align, a)
		}
		return roundUp(bytes, align), align, nil
	case hostSized(k):
		return 0, 0, fmt.Errorf(" is %v, which has the size of the host's", t)
	}
	return 0, 0, fmt.Errorf(" is %v, which the device cannot read", t)
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// visit calls f for each number and Buffer in a value and its offset.
func visit(v reflect.Value, at int, f func(at int, v reflect.Value)) {
	switch t := v.Type(); {
	case t == bufferType || isNumber(t.Kind()):
		// Fields that are not exported are read as well.
		f(at, reflect.NewAt(t, v.Addr().UnsafePointer()).Elem())
	case t.Kind() == reflect.Array:
		bytes, _, _ := layout(t.Elem())
		for i := range v.Len() {
			visit(v.Index(i), at+i*bytes, f)
		}
	default:
		offset := 0
		for i := range v.NumField() {
			n, align, _ := layout(t.Field(i).Type)
			offset = roundUp(offset, align)
			visit(v.Field(i), at+offset, f)
			offset += n
		}
	}
}

// addressable is a copy of a value.
func addressable(arg any) reflect.Value {
	p := reflect.New(reflect.TypeOf(arg))
	p.Elem().Set(reflect.ValueOf(arg))
	return p.Elem()
}

// PutArgument lays out an argument that CheckLaunch has accepted in the bytes
// of its parameter. It calls address with the offset of each buffer, and address
// writes the buffer's place; a nil Buffer in a struct is a null pointer. It does
// not lay out a TensorMap or an Object.
func PutArgument(param []byte, arg any, address func(at int, b Buffer)) {
	switch a := arg.(type) {
	case Buffer:
		address(0, a)
		return
	case []byte:
		copy(param, a)
		return
	}
	if v := reflect.ValueOf(arg); isNumber(v.Kind()) {
		putNumber(param, v)
		return
	}
	visit(addressable(arg), 0, func(at int, v reflect.Value) {
		if v.Type() != bufferType {
			putNumber(param[min(at, len(param)):], v)
		} else if b, ok := v.Interface().(Buffer); ok {
			address(at, b)
		}
	})
}

// readable reports whether an argument is of a kind that a device can read. A Go
// slice, a map, a string, a pointer or an int is not.
func readable(arg any) bool {
	switch arg.(type) {
	case Buffer, []byte:
		return true
	case Object:
		return false // it has no bytes of its own
	}
	_, _, err := layout(reflect.TypeOf(arg))
	return err == nil
}

// Buffers are the buffers that a launch names: arguments, members of structs,
// tensors of maps, and the buffers of Zero.
func Buffers(l Launch) []Buffer {
	list := append([]Buffer(nil), l.Zero...)
	for _, arg := range l.Args {
		switch a := arg.(type) {
		case nil:
		case TensorMap:
			list = append(list, a.Buffer)
		default:
			if !readable(arg) {
				break // the launch is refused
			}
			PutArgument(nil, a, func(_ int, b Buffer) { list = append(list, b) })
		}
	}
	return list
}

// WithBuffers is a copy of a launch in which other(b) replaces each buffer b.
func WithBuffers(l Launch, other func(Buffer) (Buffer, error)) (Launch, error) {
	var failed error
	replace := func(b Buffer) Buffer {
		o, err := other(b)
		if failed == nil {
			failed = err
		}
		return o
	}
	args, zero := l.Args, l.Zero
	l.Args, l.Zero = make([]any, len(args)), make([]Buffer, len(zero))
	for i, b := range zero {
		l.Zero[i] = replace(b)
	}
	for i, arg := range args {
		switch a := arg.(type) {
		case Buffer:
			arg = replace(a)
		case TensorMap:
			a.Buffer = replace(a.Buffer)
			arg = a
		case nil, []byte, Object:
		default:
			v := addressable(arg)
			if isNumber(v.Kind()) || !readable(arg) {
				break
			}
			visit(v, 0, func(_ int, field reflect.Value) {
				if b, ok := field.Interface().(Buffer); ok && field.Type() == bufferType {
					o := replace(b)
					field.Set(reflect.ValueOf(&o).Elem())
				}
			})
			arg = v.Interface()
		}
		l.Args[i] = arg
	}
	return l, failed
}

func putNumber(to []byte, v reflect.Value) {
	var bits uint64
	switch k := v.Kind(); {
	case k == reflect.Float32:
		bits = uint64(math.Float32bits(float32(v.Float())))
	case k == reflect.Float64:
		bits = math.Float64bits(v.Float())
	case k == reflect.Bool:
		if v.Bool() {
			bits = 1
		}
	case v.CanInt():
		bits = uint64(v.Int())
	default:
		bits = v.Uint()
	}
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], bits)
	copy(to, raw[:v.Type().Size()])
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

func isNumber(k reflect.Kind) bool {
	return isFloat(k) || k == reflect.Bool || k >= reflect.Int8 && k <= reflect.Int64 || k >= reflect.Uint8 && k <= reflect.Uint64
}

// hostSized reports whether a number's size is the host's and not the device's.
func hostSized(k reflect.Kind) bool {
	return k == reflect.Int || k == reflect.Uint || k == reflect.Uintptr
}

// wanted names the arguments that a parameter accepts.
func (p Param) wanted() string {
	switch {
	case p.Pointer:
		return "a buffer, or a number of 64 bits"
	case p.compound():
		return fmt.Sprintf("a struct, an array or a []byte of %d bytes", p.Bytes)
	}
	names := map[string]string{"f32": "float32", "f64": "float64"}
	if n, ok := names[p.Type]; ok {
		return n
	}
	bits := 8 * p.Bytes
	if strings.HasPrefix(p.Type, "b") && bits >= 32 {
		return fmt.Sprintf("int%d, uint%d or float%d", bits, bits, bits)
	}
	return fmt.Sprintf("int%d or uint%d", bits, bits)
}

// remedy is the conversion that makes an int fit.
func (p Param) remedy() string {
	if p.Type == "f32" || p.Type == "f64" {
		return "float" + p.Type[1:] + "(n)"
	}
	return fmt.Sprintf("int%d(n)", 8*p.Bytes)
}
