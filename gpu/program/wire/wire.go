// Package wire is the protocol between a CUDA program, which runs as a process of its own,
// and the device that answers it: the layout of the memory that both share, and the numbers
// of the messages. Header is the same for the library of package program, in C.
//
// The program writes messages into a ring; the device takes them in order. A message that
// asks is answered in the memory beside the ring. A side that finds nothing to do sleeps on
// a socket, and the other side wakes it by a byte. So a launch without a wait costs no
// system call while the device is busy.
//
// Its main type is Channel, which one goroutine of package program owns. It imports nothing
// of gpu.
package wire

import (
	"fmt"
	"strings"
)

// Variable is the environment variable by which a program finds its channel: the numbers of
// the descriptors of the memory and of the socket.
const Variable = "WARPBOOK_CHANNEL"

// The exit statuses of the library.
const (
	StatusNoDevice = 70 // the device has ended
	StatusRefused  = 71 // the program needs what the library does not have
)

// Op is the kind of a message.
type Op uint32

// The messages. Those that ask say so.
const (
	Skip        Op = iota + 1 // the rest of the ring is empty
	Kernel                    // asks for the parameters of a kernel: unit, length, name
	Launch                    // number, flags and cluster, shape, shared bytes, stream, parameters
	Allocate                  // asks for memory: bytes, kind
	Free                      // asks: address
	Upload                    // address, bytes, stream, data
	Download                  // asks: address, bytes, stream
	Copy                      // to, from, bytes, stream
	Set                       // address, bytes, value, stream
	Variables                 // asks for a variable's address and bytes: unit, length, address on the host if both sides have it, name
	Record                    // event, stream
	Order                     // one of the orders below, and two numbers
	Elapsed                   // asks: two events
	Synchronize               // asks: waits for all work
	Printed                   // asks for a part of what kernels printed
	Device                    // asks for the properties
	Memory                    // asks for the free and the whole memory
	Occupancy                 // asks: kernel, threads, shared bytes
	Failed                    // a call has failed: error, other place, length, text
	Leak                      // memory that was not freed: bytes, kind
	Reset                     // asks: frees all memory
	Object                    // asks for the number of a texture or surface object: address, bytes, surface, type, channels, width, height, depth, layers, pitch, kind of memory, modes, filter, normalised, scaled, border
	Destroy                   // asks: number of an object
	Limit                     // a limit of the device, as cudaLimit numbers them: number, bytes
	Arrived                   // a copy to memory of both sides, for which the host has not waited: address, bytes, stream
	Read                      // the host reads memory of both sides without a wait: address, bytes, places
	Wrote                     // pages that the host wrote without a wait: address, a bit for each
	End                       // asks: the program has ended; the error that the program did not read
	ops
)

var names = [ops]string{Skip: "SKIP", Kernel: "KERNEL", Launch: "LAUNCH", Allocate: "ALLOCATE", Free: "FREE", Upload: "UPLOAD", Download: "DOWNLOAD",
	Copy: "COPY", Set: "SET", Variables: "VARIABLE", Record: "RECORD", Order: "ORDER", Elapsed: "ELAPSED", Synchronize: "SYNCHRONIZE", Printed: "PRINTED", Device: "DEVICE",
	Memory: "MEMORY", Occupancy: "OCCUPANCY", Failed: "FAILED", Leak: "LEAK", Reset: "RESET", Object: "OBJECT", Destroy: "DESTROY", Limit: "LIMIT", Arrived: "ARRIVED", Read: "READ", Wrote: "WROTE", End: "END"}

func (o Op) String() string {
	if o < ops && names[o] != "" {
		return names[o]
	}
	return fmt.Sprintf("operation %d", uint32(o))
}

// The orders: what the work of a program comes after.
const (
	MakeStream = iota // stream, flags: one that does not wait for the legacy stream
	WaitEvent         // stream, event
	HostStream        // the host has waited for a stream
	HostEvent         // the host has waited for an event
	HostAll           // the host has waited for all work
)

// NoStream is the stream of copies that are no work of the program's.
const NoStream = 1<<32 - 1

// The layout of the shared memory, in bytes.
const (
	magic = 0x3263627077617262 // of this version of the layout

	headAt          = 64  // bytes that the program has written
	tailAt          = 128 // bytes that the device has taken
	deviceSleepsAt  = 192
	programSleepsAt = 196 // 1 for an answer, 2 for room in the ring
	answeredAt      = 200 // questions that were answered
	claimAt         = 204 // process that writes the ring, 0 for none
	askedAt         = 208 // questions that were asked
	crashAt         = 256 // of a crash of the program
	answerAt        = 512 // status, fault, printed bytes, more, values
	ringAt          = 4096
	ringBytes       = 1 << 20
	dataAt          = ringAt + ringBytes
	dataBytes       = 1 << 20

	// HeapAt is where memory of both sides begins: of managed and of host allocations.
	HeapAt = 4 << 20
)

// crashPlaces is how many places a crash may name.
const crashPlaces = 16

// The values of an answer.
const (
	statusValue = iota
	stickyValue
	printedValue
	moreValue
	firstValue
)

// mostValues is how many values an answer may have.
const mostValues = 16

// The properties of a device, after its name of 256 bytes.
const (
	GlobalBytes = iota
	SharedPerBlock
	SharedPerBlockMax
	SharedPerSM
	Registers
	Clock       // kHz
	MemoryClock // kHz
	Bus         // bits
	Major
	Minor
	SMs
	ThreadsPerSM
	BlocksPerSM
	L2Bytes
	DeviceValues
)

// NameBytes is the room for the name of a device.
const NameBytes = 256

// Header is this protocol in C.
func Header() string {
	var b strings.Builder
	b.WriteString("// Made by package wire.\n#pragma once\n")
	define := func(name string, value int) { fmt.Fprintf(&b, "#define WB_%s %d\n", name, value) }
	fmt.Fprintf(&b, "#define WB_MAGIC %#xull\n#define WB_VARIABLE %q\n", uint64(magic), Variable)
	fmt.Fprintf(&b, "#define WB_NO_STREAM %du\n", uint32(NoStream))
	for op := Skip; op < ops; op++ {
		define("OP_"+op.String(), int(op))
	}
	for _, d := range []struct {
		name  string
		value int
	}{
		{"ORDER_MAKE", MakeStream}, {"ORDER_WAIT", WaitEvent}, {"ORDER_HOST_STREAM", HostStream}, {"ORDER_HOST_EVENT", HostEvent}, {"ORDER_HOST_ALL", HostAll},
		{"STATUS_NO_DEVICE", StatusNoDevice}, {"STATUS_REFUSED", StatusRefused},
		{"HEAD", headAt}, {"TAIL", tailAt}, {"DEVICE_SLEEPS", deviceSleepsAt}, {"PROGRAM_SLEEPS", programSleepsAt}, {"ANSWERED", answeredAt}, {"CLAIM", claimAt}, {"ASKED", askedAt},
		{"CRASH", crashAt}, {"CRASH_PLACES", crashPlaces}, {"ANSWER", answerAt}, {"RING", ringAt}, {"RING_BYTES", ringBytes}, {"DATA", dataAt}, {"DATA_BYTES", dataBytes}, {"CHANNEL_BYTES", HeapAt},
		{"ANSWER_STATUS", statusValue}, {"ANSWER_STICKY", stickyValue}, {"ANSWER_PRINTED", printedValue}, {"ANSWER_MORE", moreValue}, {"ANSWER_VALUES", firstValue},
		{"DEVICE_MEMORY", GlobalBytes}, {"DEVICE_SHARED_BLOCK", SharedPerBlock}, {"DEVICE_SHARED_OPTIN", SharedPerBlockMax}, {"DEVICE_SHARED_SM", SharedPerSM},
		{"DEVICE_REGISTERS", Registers}, {"DEVICE_CLOCK", Clock}, {"DEVICE_MEMORY_CLOCK", MemoryClock}, {"DEVICE_BUS", Bus}, {"DEVICE_MAJOR", Major}, {"DEVICE_MINOR", Minor},
		{"DEVICE_SMS", SMs}, {"DEVICE_THREADS_SM", ThreadsPerSM}, {"DEVICE_BLOCKS_SM", BlocksPerSM}, {"DEVICE_L2", L2Bytes}, {"DEVICE_VALUES", DeviceValues},
	} {
		define(d.name, d.value)
	}
	return b.String()
}
