package command

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxFrame bounds the memory that a broken peer can make a reader allocate.
const maxFrame = 1 << 28

// header is the length, the kind and the number.
const header = 4 + 1 + 4

// codec walks the fields of a message in order and writes or reads them, so
// that each message says its layout once.
type codec struct {
	data    []byte // written so far, or left to read
	reading bool
	err     error
}

var errShort = errors.New("message is too short")

// next takes n bytes when reading, and makes room for n when writing.
func (c *codec) next(n int) []byte {
	if !c.reading {
		c.data = append(c.data, make([]byte, n)...)
		return c.data[len(c.data)-n:]
	}
	if n > len(c.data) {
		c.err, c.data = errShort, nil
		return nil
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}

func (c *codec) u32(v *uint32) {
	b := c.next(4)
	switch {
	case !c.reading:
		binary.LittleEndian.PutUint32(b, *v)
	case b != nil:
		*v = binary.LittleEndian.Uint32(b)
	}
}

func (c *codec) u32s(vs ...*uint32) {
	for _, v := range vs {
		c.u32(v)
	}
}

func (c *codec) i32(v *int32) {
	u := uint32(*v)
	c.u32(&u)
	*v = int32(u)
}

func (c *codec) i64(v *int64) {
	b := c.next(8)
	switch {
	case !c.reading:
		binary.LittleEndian.PutUint64(b, uint64(*v))
	case b != nil:
		*v = int64(binary.LittleEndian.Uint64(b))
	}
}

func (c *codec) flag(v *bool) {
	b := c.next(1)
	switch {
	case !c.reading && *v:
		b[0] = 1
	case c.reading && b != nil:
		*v = b[0] != 0
	}
}

func (c *codec) dim(v *[3]uint32) { c.u32s(&v[0], &v[1], &v[2]) }

// bytes reads a part of the frame itself, valid until the next frame is read.
func (c *codec) bytes(v *[]byte) {
	n := c.count(len(*v), 1)
	b := c.next(n)
	if !c.reading {
		copy(b, *v)
		return
	}
	*v = b
}

func (c *codec) text(v *string) {
	b := []byte(*v)
	c.bytes(&b)
	*v = string(b)
}

// count is the length of a list whose elements have at least size bytes.
func (c *codec) count(n, size int) int {
	u := uint32(n)
	c.u32(&u)
	if c.reading && (c.err != nil || int64(u)*int64(size) > int64(len(c.data))) {
		c.err, c.data = errShort, nil
		return 0
	}
	return int(u)
}

// list walks the elements of a slice, whose encoding has at least size bytes
// each; reading reuses the slice's memory.
func list[T any](c *codec, v *[]T, size int, element func(*T)) {
	n := c.count(len(*v), size)
	if c.reading {
		if cap(*v) < n {
			*v = make([]T, n)
		}
		*v = (*v)[:n]
	}
	for i := range *v {
		element(&(*v)[i])
	}
}

// frame appends a frame.
func frame(data []byte, kind Kind, number uint32, m message) []byte {
	start := len(data)
	c := codec{data: append(data, make([]byte, header)...)}
	m.fields(&c)
	b := c.data[start:]
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	b[4] = byte(kind)
	binary.LittleEndian.PutUint32(b[5:], number)
	return c.data
}

// Append appends the frame of a command.
func Append(data []byte, number uint32, c Command) []byte {
	return frame(data, c.Kind(), number, c)
}

// Append appends the frame of an answer.
func (a *Answer) Append(data []byte) []byte { return frame(data, 0, a.Number, a) }

// Append appends the frame of a hello.
func (h *Hello) Append(data []byte) []byte { return frame(data, 0, 0, h) }

// Reader reads frames.
type Reader struct {
	from  *bufio.Reader
	data  []byte
	codec codec // here, so that a command costs no allocation
}

// NewReader reads frames from r.
func NewReader(r io.Reader) *Reader { return &Reader{from: bufio.NewReaderSize(r, 64<<10)} }

// next reads a frame; its fields are valid until the next call.
func (r *Reader) next() (kind Kind, number uint32, fields []byte, err error) {
	size, err := r.from.Peek(4)
	if err != nil {
		if len(size) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, 0, nil, err
	}
	n := binary.LittleEndian.Uint32(size)
	r.from.Discard(4)
	if n < header-4 || n > maxFrame {
		return 0, 0, nil, fmt.Errorf("command: frame of %d bytes, expected %d to %d", n, header-4, maxFrame)
	}
	if err := r.fill(int(n)); err != nil {
		return 0, 0, nil, fmt.Errorf("command: frame: %w", err)
	}
	return Kind(r.data[0]), binary.LittleEndian.Uint32(r.data[1:]), r.data[header-4:], nil
}

// fill reads n bytes, and allocates no more than it receives.
func (r *Reader) fill(n int) error {
	r.data = r.data[:0]
	for len(r.data) < n {
		step := min(n-len(r.data), 1<<20)
		start := len(r.data)
		r.data = append(r.data, make([]byte, step)...)
		if _, err := io.ReadFull(r.from, r.data[start:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// message is a command, an answer or a hello, which the codec encodes.
type message interface{ fields(*codec) }

// parse reads the fields of a message, and rejects missing and further bytes.
func (r *Reader) parse(data []byte, m message) error {
	c := &r.codec
	*c = codec{data: data, reading: true}
	m.fields(c)
	if c.err == nil && len(c.data) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.data))
	}
	if c.err != nil {
		return fmt.Errorf("command: %T: %w", m, c.err)
	}
	return nil
}

// Answer reads an answer.
func (r *Reader) Answer() (Answer, error) {
	_, number, data, err := r.next()
	a := Answer{Number: number}
	if err != nil {
		return a, err
	}
	return a, r.parse(data, &a)
}

// Hello reads a hello.
func (r *Reader) Hello() (Hello, error) {
	_, _, data, err := r.next()
	var h Hello
	if err != nil {
		return h, err
	}
	err = r.parse(data, &h)
	if err == nil && h.Protocol == Protocol && h.Code == 0 && len(h.Attributes) != int(Attributes) {
		err = fmt.Errorf("command: hello: %d attributes, expected %d", len(h.Attributes), Attributes)
	}
	return h, err
}

// Command reads a command. It is valid until the next call: its bytes, and its
// memory when the next one is of the same kind.
func (r *Reader) Command(into *Set) (Command, uint32, error) {
	kind, number, data, err := r.next()
	if err != nil {
		return nil, 0, err
	}
	c := into.get(kind)
	if c == nil {
		return nil, 0, fmt.Errorf("command: kind %d, expected 1 to %d", kind, kinds-1)
	}
	return c, number, r.parse(data, c)
}

// Nanoseconds turns CUDA's milliseconds into the protocol's unit.
func Nanoseconds(ms float64) int64 { return int64(math.Round(ms * 1e6)) }
