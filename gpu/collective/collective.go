// Package collective joins several devices: all-reduce, broadcast and reduce-scatter of
// their buffers. Communicator is a rank's part. New makes one for each of several devices:
// with NCCL where all of them are GPUs that it joins, otherwise as InMemory does, which
// takes devices of any kind, emulators too, and sends by way of the host's memory.
//
// Every rank is driven by a goroutine of its own, which calls the same collectives in the
// same order. A rank that fails, is aborted, or does not come within the deadline ends the
// collective of all others with an error, and nothing else: all Go state, and the buffers
// that the collective does not write, are as before.
//
// Notebooks and operators call it; gpu/cuda implements Linked. It must never import an
// operator or a kind of device.
package collective

import (
	"errors"
	"fmt"
	"time"

	"warpbook/gpu"
)

// Communicator is a rank of a group. It is for one goroutine at a time, except Abort, which
// any goroutine may call.
//
// A collective runs after the work in its device's default stream, whose errors it returns,
// and returns when the result is in the buffer. With NCCL the host does not wait between the
// two. An error of a collective that the ranks do not agree on leaves the group as
// it was; all others end the group, and each later call returns the first of them.
type Communicator interface {
	// Rank is the number of this rank, from 0 up, and Size how many there are.
	Rank() int
	Size() int

	// Device is where the buffers of this rank are.
	Device() gpu.Device

	// Transport is a line that names what the bytes are sent by, and why it is not NCCL.
	Transport() string

	// AllReduce combines the elements of in of all ranks, and gives every rank the
	// result. out may be in, and shares no elements with in otherwise.
	AllReduce(in, out gpu.Buffer, op Op) error

	// Broadcast gives the elements of the root's buffer to all ranks.
	Broadcast(buffer gpu.Buffer, root int) error

	// ReduceScatter combines as AllReduce does, and gives rank i the i-th of equal parts:
	// in has as many elements as the out of all ranks together. out may be that part of in.
	ReduceScatter(in, out gpu.Buffer, op Op) error

	// Run runs several collectives, one after the other, and returns when all results are
	// there. The ranks agree on all of them first. With NCCL nothing waits between two: many
	// small ones take far less time than each by itself.
	Run(calls ...Call) error

	// Time is Run t.Warmup times and then t.Repeats times in a row, and returns the time of
	// one of the latter: between two events of the device with NCCL, of the host's clock
	// otherwise. All ranks call it, with the same t.Warmup and t.Repeats.
	Time(t gpu.Timing, calls ...Call) (time.Duration, error)

	// Abort ends the group: collectives that wait, and all later ones, return an error of
	// every rank that wraps ErrAborted and has the cause.
	Abort(cause error)

	// Close ends the group, as Abort does, and releases the rank's part of it.
	Close() error
}

// Call is a collective with its buffers, for Run and Time.
type Call struct {
	Kind    Kind
	In, Out gpu.Buffer // of Broadcast the same one
	Op      Op         // not of Broadcast
	Root    int        // of Broadcast
}

// Kind is a collective.
type Kind uint8

// The collectives.
const (
	AllReduce Kind = iota
	Broadcast
	ReduceScatter
)

// String is the name of a collective.
func (k Kind) String() string {
	if int(k) >= len(kinds) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k]
}

var kinds = []string{"all-reduce", "broadcast", "reduce-scatter"}

// Factor is the share of the bytes of a collective that each of n ranks has to send, as
// nccl-tests has it: see AllReduceFactor.
func (k Kind) Factor(n int) float64 {
	return []func(int) float64{AllReduceFactor, BroadcastFactor, ReduceScatterFactor}[k](n)
}

// ErrAborted is the kind of error of a collective whose group has ended.
var ErrAborted = errors.New("group ended")

// ErrMissing is the kind of error of a collective that a rank did not join within the
// deadline. It ends the group.
var ErrMissing = errors.New("rank missing")

// Op is how elements are combined.
type Op uint8

// The operations. All ranks get the same bits. In memory, Sum adds in the order of the ranks,
// and Max and Min of floats are NaN where one is NaN; NCCL adds in an order of its own, and
// its Max and Min may drop a NaN.
const (
	Sum Op = iota
	Max
	Min
)

// String is the name of an operation.
func (op Op) String() string {
	if int(op) >= len(names) {
		return fmt.Sprintf("Op(%d)", uint8(op))
	}
	return names[op]
}

var names = []string{"sum", "max", "min"}

// The share of the bytes of a collective that a rank of n has to send, as nccl-tests has it:
// bytes, over the time, times this factor is the bandwidth of the links. The bytes are those
// of the larger of in and out.
func AllReduceFactor(n int) float64     { return 2 * float64(n-1) / float64(n) }
func ReduceScatterFactor(n int) float64 { return float64(n-1) / float64(n) }
func BroadcastFactor(int) float64       { return 1 }
