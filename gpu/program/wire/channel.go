//go:build linux

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Channel is the device's side. One goroutine calls all methods but Hangup.
type Channel struct {
	memory *os.File
	socket *os.File
	far    *os.File // the program's end of the socket, until it has started
	shared []byte
	heap   int64 // bytes of the file

	tail     uint64
	last     uint64 // bytes of the message that Next returned
	answered uint32
	heaps    map[int64][]byte // mapped memory of Heap, by offset
}

// Open makes a channel.
func Open() (*Channel, error) {
	fd, err := unix.MemfdCreate("warpbook", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wire: shared memory: %w", err)
	}
	c := &Channel{memory: os.NewFile(uintptr(fd), "channel"), heap: HeapAt, heaps: map[int64][]byte{}}
	if err := c.open(); err != nil {
		c.Close()
		return nil, fmt.Errorf("wire: %w", err)
	}
	return c, nil
}

func (c *Channel) open() (err error) {
	if err = c.memory.Truncate(HeapAt); err != nil {
		return err
	}
	if c.shared, err = c.mapped(0, HeapAt); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(c.shared, magic)
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	unix.SetNonblock(ends[0], true) // so that Close wakes a reader
	c.socket, c.far = os.NewFile(uintptr(ends[0]), "doorbell"), os.NewFile(uintptr(ends[1]), "doorbell")
	return nil
}

func (c *Channel) mapped(at, bytes int64) ([]byte, error) {
	return unix.Mmap(int(c.memory.Fd()), at, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Files are the descriptors that the program inherits, the first with the given number, and
// the environment variable that names them.
func (c *Channel) Files(first int) (files []*os.File, variable string) {
	return []*os.File{c.memory, c.far}, fmt.Sprintf("%s=%d,%d", Variable, first, first+1)
}

// Started closes the program's end here, so that the end of the program ends Next.
func (c *Channel) Started() { c.far.Close() }

// Hangup ends Next when it has taken what the program has written. Any goroutine may call it.
func (c *Channel) Hangup() { c.socket.Close() }

// Close releases the memory. The device must not use memory of Heap any more.
func (c *Channel) Close() {
	for _, f := range []*os.File{c.socket, c.far, c.memory} {
		if f != nil {
			f.Close() // the far end may be closed
		}
	}
	for _, m := range c.heaps {
		unix.Munmap(m)
	}
	clear(c.heaps)
	if c.shared != nil {
		unix.Munmap(c.shared)
		c.shared = nil
	}
}

func (c *Channel) word64(at int) *uint64 { return (*uint64)(unsafe.Pointer(&c.shared[at])) }
func (c *Channel) word32(at int) *uint32 { return (*uint32)(unsafe.Pointer(&c.shared[at])) }

// Message is one message. Body is valid until the next call of Next.
type Message struct {
	Op   Op
	Here uint64 // the place of the call in the program
	Body []byte
}

// Value is the i-th value of the body, 0 beyond its end.
func (m Message) Value(i int) uint64 {
	if len(m.Body) < 8*i+8 {
		return 0
	}
	return binary.LittleEndian.Uint64(m.Body[8*i:])
}

// Bytes are n bytes after the first i values, fewer at the end of the body.
func (m Message) Bytes(i int, n uint64) []byte {
	rest := m.Body[min(8*i, len(m.Body)):]
	return rest[:min(n, uint64(len(rest)))]
}

// errBroken is the error of a ring that the program has overwritten.
var errBroken = errors.New("the program has overwritten the memory that it shares with the device")

// polls is how often Next looks before it sleeps.
const polls = 100

// Next takes the next message. io.EOF is the end of the program.
func (c *Channel) Next() (Message, error) {
	for {
		c.done()
		if err := c.wait(); err != nil {
			return Message{}, err
		}
		m, bytes := c.message(c.tail)
		if bytes == 0 {
			return Message{}, errBroken
		}
		if c.last = bytes; m.Op != Skip {
			return m, nil
		}
	}
}

// done gives the room of the last message back.
func (c *Channel) done() {
	if c.last == 0 {
		return
	}
	c.tail += c.last
	c.last = 0
	atomic.StoreUint64(c.word64(tailAt), c.tail)
	if atomic.LoadUint32(c.word32(programSleepsAt)) == 2 && atomic.LoadUint64(c.word64(headAt))-c.tail < ringBytes/2 {
		c.wake()
	}
}

func (c *Channel) wake() {
	if atomic.SwapUint32(c.word32(programSleepsAt), 0) != 0 {
		c.socket.Write([]byte{0}) // the program may have ended
	}
}

// wait returns when the ring has a message.
func (c *Channel) wait() error {
	empty := func() bool { return atomic.LoadUint64(c.word64(headAt)) == c.tail }
	var byte1 [64]byte
	for i := 0; empty(); i++ {
		if i < polls {
			runtime.Gosched()
			continue
		}
		atomic.StoreUint32(c.word32(deviceSleepsAt), 1)
		if !empty() {
			break
		}
		if _, err := c.socket.Read(byte1[:]); err != nil {
			if !empty() { // written before the end
				break
			}
			return io.EOF
		}
	}
	if head := atomic.LoadUint64(c.word64(headAt)); head-c.tail > ringBytes {
		return errBroken
	}
	return nil
}

// Blocked reports whether the program waits for the device: for an answer, or for room in the
// ring. Any goroutine may call it while the device works on a message.
func (c *Channel) Blocked() bool {
	return atomic.LoadUint32(c.word32(askedAt)) != atomic.LoadUint32(c.word32(answeredAt)) || atomic.LoadUint32(c.word32(programSleepsAt)) == 2
}

// Pending are the messages behind the last one that Next returned. Their bodies are valid until
// the next call of Next.
func (c *Channel) Pending() (list []Message) {
	head := atomic.LoadUint64(c.word64(headAt))
	for at := c.tail + c.last; at < head; {
		m, bytes := c.message(at)
		if bytes == 0 {
			break // Next reports it
		}
		if at += bytes; m.Op != Skip {
			list = append(list, m)
		}
	}
	return list
}

// message is the one at a place of the ring, and its length, 0 if it is broken.
func (c *Channel) message(place uint64) (m Message, length uint64) {
	at := ringAt + int(place%ringBytes)
	op, bytes := Op(binary.LittleEndian.Uint32(c.shared[at:])), binary.LittleEndian.Uint32(c.shared[at+4:])
	if op < Skip || op >= ops || bytes < 8 || bytes%8 != 0 || at+int(bytes) > ringAt+ringBytes || op != Skip && bytes < 16 {
		return Message{}, 0
	}
	if op == Skip {
		return Message{Op: op}, uint64(bytes)
	}
	return Message{Op: op, Here: binary.LittleEndian.Uint64(c.shared[at+8:]), Body: c.shared[at+16 : at+int(bytes)]}, uint64(bytes)
}

// Answer is the reply to a question.
type Answer struct {
	Status uint64
	Sticky uint64 // the error of a fault, for every later call
	Values []uint64
	Text   []byte // of what kernels printed, or data
	More   bool
}

// DataBytes is the most that Text can have.
const DataBytes = dataBytes

// Answer answers the last message, which asks.
func (c *Channel) Answer(a Answer) {
	put := func(i int, v uint64) { binary.LittleEndian.PutUint64(c.shared[answerAt+8*i:], v) }
	put(statusValue, a.Status)
	put(stickyValue, a.Sticky)
	put(printedValue, uint64(copy(c.Data(), a.Text)))
	put(moreValue, map[bool]uint64{true: 1}[a.More])
	for i := range mostValues {
		v := uint64(0)
		if i < len(a.Values) {
			v = a.Values[i]
		}
		put(firstValue+i, v)
	}
	c.answered++
	atomic.StoreUint32(c.word32(answeredAt), c.answered)
	c.wake()
}

// Data is where the bytes of an answer lie.
func (c *Channel) Data() []byte { return c.shared[dataAt : dataAt+dataBytes] }

// Heap makes memory that the program can map at an offset of the channel's memory.
func (c *Channel) Heap(bytes int64) (offset int64, memory []byte, err error) {
	const page = 4096
	whole := (bytes+page-1)/page*page + page // an unused page follows, because the emulator reads whole words
	if err := c.memory.Truncate(c.heap + whole); err != nil {
		return 0, nil, fmt.Errorf("wire: shared memory: %w", err)
	}
	memory, err = c.mapped(c.heap, whole)
	if err != nil {
		return 0, nil, fmt.Errorf("wire: shared memory: %w", err)
	}
	offset = c.heap
	c.heaps[offset] = memory
	c.heap += whole
	return offset, memory[:bytes], nil
}

// Release gives memory of Heap back to the system. The device must not use it any more.
func (c *Channel) Release(offset int64) {
	m, ok := c.heaps[offset]
	if !ok {
		return
	}
	delete(c.heaps, offset)
	unix.Munmap(m)
	unix.Fallocate(int(c.memory.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, int64(len(m))) // Close does it too
}

// Crash is what a program that crashed has left.
type Crash struct {
	Signal       int32
	Address      uint64
	AllocatedAt  uint64              // the place of the allocation that the address lies in; 0 for none
	Bytes, Start uint64              // of it
	Places       [crashPlaces]uint64 // the instruction, and words of the stack that may be places of calls
}

// Crash returns the crash of a process, if it left one. A child of the program may have had
// the ring.
func (c *Channel) Crash(pid int) (Crash, bool) {
	v := func(i int) uint64 { return binary.LittleEndian.Uint64(c.shared[crashAt+8*i:]) }
	crash := Crash{Signal: int32(v(0)), Address: v(1), AllocatedAt: v(2), Bytes: v(3), Start: v(4)}
	for i := range crash.Places {
		crash.Places[i] = v(5 + i)
	}
	return crash, v(0) != 0 && int(atomic.LoadUint32(c.word32(claimAt))) == pid
}
