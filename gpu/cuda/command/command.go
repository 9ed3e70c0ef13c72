// Package command is the protocol between a gpu/cuda client and its worker: the
// commands, their answers and the encoding of both. Its main types are Command
// and Answer; gpu/cuda and gpu/cuda/worker import it.
//
// A frame is its length (u32), its kind, a number and the fields, all little
// endian. A command with the number 0 is not answered: its stream keeps the error,
// and the next Sync returns it. Answers come in the order of their commands.
// Handles are numbers that the client chooses and never uses twice. Bulk data does
// not use this protocol, but memory that both processes map, called the arena.
//
// It starts no process, opens no pipe, imports no cu, and of CUDA knows only the
// error codes.
package command

import "time"

// Protocol is the version of this package: client and worker must have the
// same.
const Protocol = 8

// Kind names a command.
type Kind uint8

// The commands. Those marked (answered) always carry a number.
const (
	KindAlloc       Kind = 1 + iota // (answered)
	KindFree                        //
	KindRegister                    // (answered)
	KindUnregister                  // (answered)
	KindLoad                        // (answered)
	KindUnload                      //
	KindNewStream                   //
	KindCloseStream                 // (answered)
	KindNewEvent                    //
	KindCloseEvent                  //
	KindLaunch                      //
	KindCopy                        //
	KindZero                        //
	KindRecord                      //
	KindWait                        //
	KindSync                        // (answered)
	KindSyncEvent                   // (answered)
	KindElapsed                     // (answered)
	KindTime                        // (answered)
	KindOccupancy                   // (answered)
	KindAllocAsync                  // (answered)
	KindFreeAsync                   //
	KindGraph                       // (answered)
	KindUpdateGraph                 // (answered)
	KindLaunchGraph                 //
	KindCloseGraph                  // (answered)
	KindArray                       // (answered)
	KindCopyArray                   // (answered)
	KindFreeArray                   //
	KindTexture                     // (answered)
	KindSurface                     // (answered)
	KindFreeObject                  //
	KindOpenNCCL                    // (answered)
	KindGroupID                     // (answered)
	KindJoinGroup                   // (answered)
	KindCollect                     // (answered)
	KindPollGroup                   // (answered)
	KindLeaveGroup                  // (answered)
	KindClusters                    // (answered)
	kinds
)

// Command is one command.
type Command interface {
	Kind() Kind
	fields(*codec)
}

// DefaultStream is the stream that every worker has; AllStreams stands for all
// of them in Sync.
const (
	DefaultStream uint32 = 0
	AllStreams    uint32 = 1<<32 - 1
)

// Alloc makes device memory.
type Alloc struct {
	Buffer uint32
	Bytes  int64
}

// Free releases device memory.
type Free struct{ Buffer uint32 }

// AllocAsync makes device memory for later work of a stream.
type AllocAsync struct {
	Stream, Buffer uint32
	Bytes          int64
}

// FreeAsync releases device memory after the work on a stream.
type FreeAsync struct{ Stream, Buffer uint32 }

// Register lets the device transfer from a part of the arena directly.
type Register struct{ Offset, Bytes int64 }

// Unregister ends what Register began, after all work that may use it.
type Unregister struct{ Offset int64 }

// Load loads PTX. The answer has four values an entry (see EntryValues), then
// the size in bytes of each variable, -1 for one that the assembler left out. Entries and variables get the numbers
// from FirstEntry and FirstBuffer on, in order.
type Load struct {
	Module      uint32
	FirstEntry  uint32
	FirstBuffer uint32
	Entries     []string
	Offsets     [][]uint32 // of the parameters of each entry
	Variables   []string
	Text        string
}

// EntryValues is how many values Load answers for an entry: registers a
// thread, bytes of local memory per thread, bytes of static shared memory, and
// the most threads a block may have.
const EntryValues = 4

// Unload releases a module, its entries and variables.
type Unload struct{ Module uint32 }

// NewStream makes a stream.
type NewStream struct{ Stream uint32 }

// CloseStream waits for a stream's work and releases it; it answers as Sync.
type CloseStream struct{ Stream uint32 }

// NewEvent makes an event.
type NewEvent struct{ Event uint32 }

// CloseEvent releases an event.
type CloseEvent struct{ Event uint32 }

// Launch runs an entry.
type Launch struct {
	Stream      uint32
	Entry       uint32
	Grid, Block [3]uint32
	Shared      uint32
	Cooperative bool
	Cluster     [3]uint32 // blocks of a cluster; 0 if the launch gives none
	Large       bool      // a cluster may have more than 8 blocks
	Zero        []Range
	Params      []byte    // as the entry lays its parameters out
	Addresses   []Address // put into Params
	Maps        []Map     // encoded into Params
}

// Address is the address of a place in a buffer, at an offset of the
// parameters.
type Address struct {
	At     uint32
	Buffer uint32
	Offset int64
}

// Map is a tensor map to encode at an offset of the parameters.
type Map struct {
	At      uint32
	Type    uint32 // a CUtensorMapDataType
	Tensor  Place
	Shape   []int64
	Strides []int64 // bytes, one less
	Box     []uint32
	Swizzle uint32 // a CUtensorMapSwizzle
	Fill    uint32 // a CUtensorMapFloatOOBfill

	// In im2col mode, without Box:
	Lower, Upper     []int32
	Channels, Pixels uint32   // 0 in tile mode
	Steps            []uint32 // of all directions
}

// Range is a part of a buffer.
type Range struct {
	Buffer        uint32
	Offset, Bytes int64
}

// Copy copies between buffers and the arena; buffer 0 is the arena.
type Copy struct {
	Stream   uint32
	Dst, Src Place
	Bytes    int64
}

// Place is a byte of a buffer or, for buffer 0, of the arena.
type Place struct {
	Buffer uint32
	Offset int64
}

// Zero clears a part of a buffer.
type Zero struct {
	Stream uint32
	Range  Range
}

// Record records an event.
type Record struct{ Stream, Event uint32 }

// Wait makes a stream wait for an event.
type Wait struct{ Stream, Event uint32 }

// Sync waits for the work of a stream and answers its first error.
type Sync struct{ Stream uint32 }

// SyncEvent waits until an event has happened.
type SyncEvent struct{ Event uint32 }

// Elapsed waits for two events and answers the nanoseconds between them.
type Elapsed struct{ Start, End uint32 }

// Time runs launches as one unit and answers the nanoseconds of each timed run.
// The streams of the launches are ignored. It ends early once the 32-bit
// word at StopAt of the arena, which counts interrupts, is no longer Interrupts.
type Time struct {
	StopAt          int64
	Interrupts      uint32
	Warmup, Repeats uint32
	Flush           bool // sweep over the L2 cache before each run
	Graph           bool // replay the launches as one graph
	Launches        []Launch
}

// Occupancy answers how many blocks of an entry a multiprocessor holds.
type Occupancy struct {
	Entry, Threads, Shared uint32
}

// Clusters answers how many clusters of an entry the device holds at a time, 0 if none, and
// the most blocks that a cluster may have.
type Clusters struct {
	Entry, Shared  uint32
	Block, Cluster [3]uint32 // Cluster is 0 if the launch gives none
	Large          bool      // a cluster may have more than 8 blocks
}

// Graph makes a graph of nodes. Node i waits for the nodes in its After, whose
// indices are smaller than i.
type Graph struct {
	Graph uint32
	Nodes []Node
}

// NodeKind selects the field of a Node that is used.
type NodeKind uint32

// The kinds of nodes.
const (
	NodeLaunch NodeKind = iota
	NodeCopy
	NodeZero
)

// Node is work of a graph; its streams are ignored.
type Node struct {
	Work   NodeKind
	After  []uint32
	Launch Launch
	Copy   Copy
	Zero   Range
}

// UpdateGraph gives a launch of a graph other parameters.
type UpdateGraph struct {
	Graph, Node uint32
	Launch      Launch
}

// LaunchGraph submits a graph to a stream.
type LaunchGraph struct{ Graph, Stream uint32 }

// CloseGraph releases a graph.
type CloseGraph struct{ Graph uint32 }

// Array makes an array for textures and surfaces.
type Array struct {
	Array, Format, Channels uint32    // Format is a CUarray_format
	Size                    [3]uint32 // 0 for a missing direction
	Layers                  uint32    // 0 for none
	Surface                 bool
}

// CopyArray copies a buffer to an array, or with Read the other way, after all work.
type CopyArray struct {
	Array  uint32
	Buffer Range
	Read   bool
}

// FreeArray releases an array.
type FreeArray struct{ Array uint32 }

// Texture makes a texture object and answers its number.
type Texture struct {
	Array              uint32 // 0 for Buffer
	Buffer             Range
	Format, Channels   uint32
	Address            uint32 // a gpu.Address
	Linear             bool
	Normalised, Scaled bool
	Border             [4]float32
}

// Surface makes a surface object and answers its number.
type Surface struct{ Array uint32 }

// FreeObject releases a texture or surface object.
type FreeObject struct {
	Object  int64
	Surface bool
}

// OpenNCCL opens the first of these files that is an NCCL library, and answers its
// version as NCCL gives it, and the index of its path.
type OpenNCCL struct{ Paths []string }

// GroupID answers the number of a new group, in 16 values of 64 bits.
type GroupID struct{}

// JoinGroup begins to make this worker a rank of a group. The 32-bit word at StopAt of the
// arena ends this, and each collective, once it is not 0.
type JoinGroup struct {
	Group, Rank, Size uint32
	StopAt            int64
	ID                []byte
}

// Collective names what Collect does.
type Collective uint32

// The collectives.
const (
	AllReduce Collective = iota
	Broadcast
	ReduceScatter
)

// Collect begins collectives on the default stream, one after the other: all of them Warmup
// times, then Repeats times between two events. It answers as PollGroup does, so that short
// ones need no poll.
type Collect struct {
	Group           uint32
	Runs            []Run
	Warmup, Repeats uint32
}

// Run is one collective.
type Run struct {
	Collective Collective
	Type, Op   uint32 // an ncclDataType_t and an ncclRedOp_t
	Root       uint32
	In, Out    Range
	Count      int64 // elements, as NCCL counts them
}

// PollGroup answers what a group does, and the nanoseconds of the repeats of Collect. It
// returns within a few milliseconds.
type PollGroup struct{ Group uint32 }

// What a group does.
const (
	GroupBusy     = iota // it waits for other ranks, or for the device
	GroupIdle            // the last command has ended
	GroupQueueing        // more collectives are to be put into the stream: during a pause between two polls the device would be idle
)

// LeaveGroup aborts what a group does and releases it. It answers the milliseconds that the
// abort took, and 1 if it has not returned although the device is idle, or an error after
// AbortTime. Where the device is still at work from before the collectives, or has none of
// them, it answers GroupBusy alone: the client asks again.
type LeaveGroup struct{ Group uint32 }

// AbortTime is how long a worker waits for an abort while the device is busy with the
// collectives. A client waits longer for the answer.
const AbortTime = 3 * time.Second

// Hello is the first message of a worker.
type Hello struct {
	Protocol   uint32
	Code       int32  // a CUDA error, or 0
	Text       string // its name and text
	Name       string // of the GPU
	UUID       string // "GPU-" and more
	Driver     int64  // 13000 for CUDA 13.0
	Bytes      int64  // of global memory
	Attributes []int64
}

// Attribute is an index into Hello.Attributes.
type Attribute int

// The attributes of the device.
const (
	Major Attribute = iota
	Minor
	SMs
	L2Bytes
	SharedPerBlock
	SharedPerBlockMax
	SharedPerSM
	RegistersPerSM
	ThreadsPerBlock
	ThreadsPerSM
	BlocksPerSM
	GridX
	GridY
	GridZ
	BlockX
	BlockY
	BlockZ
	Attributes // how many there are
)

// Answer is the answer to a command.
type Answer struct {
	Number   uint32
	Code     int32     // a CUDA error, a code below 0 of this package, or 0
	Text     string    // the error in one line; more lines are a log
	Suspects []Suspect // launches, one of which caused the error
	Values   []int64
}

// Suspect is a launch that had not ended when an error appeared.
type Suspect struct {
	Entry       string
	Grid, Block [3]uint32
	Shared      uint32
}

// Codes of the worker itself.
const (
	CodeProtocol    = -1 // an invalid command: a bug of the client
	CodeInterrupted = -2 // an interrupted Time
	CodeMissing     = -3 // a module has no such entry or variable, or there is no such library
	CodeNCCL        = -4 // an error of NCCL
)
