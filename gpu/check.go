package gpu

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strings"
	"unsafe"

	"warpbook/kernel/leaf/spelling"
)

// The checks that every device makes before work runs, so that the GPU and the
// emulator report the same mistake in the same words.

// Full is the shape with its zeros as ones, as a launch counts them; X is left.
func (d Dim) Full() Dim {
	if d.Y == 0 {
		d.Y = 1
	}
	if d.Z == 0 {
		d.Z = 1
	}
	return d
}

// Size is how many there are in all.
func (d Dim) Size() int {
	d = d.Full()
	return d.X * d.Y * d.Z
}

func (d Dim) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }

// CheckLaunch compares a launch with its entry's parameters and the device's
// limits. own returns an error for a buffer that was freed or belongs to another
// device.
func CheckLaunch(info Info, l Launch, own func(Buffer) error) error {
	if err := CheckBlock(info, l); err != nil {
		return err
	}
	if err := checkDim("grid", l.Grid.Full(), info.MaxGrid, info); err != nil {
		return fmt.Errorf("gpu: launch %s: %w", l.Entry.Name(), err)
	}
	if err := CheckCluster(info, l); err != nil {
		return err
	}
	if shape, grid := l.ClusterShape(), l.Grid.Full(); grid.X%shape.X != 0 || grid.Y%shape.Y != 0 || grid.Z%shape.Z != 0 {
		return fmt.Errorf("gpu: launch %s: %w: grid %v, expected multiples of the cluster %v", l.Entry.Name(), ErrShape, grid, shape)
	}
	if err := checkArguments(l, own); err != nil {
		return fmt.Errorf("gpu: launch %s: %w", l.Entry.Name(), err)
	}
	if c := l.Checks &^ (info.Checks | CheckNone); c != 0 {
		return fmt.Errorf("gpu: launch %s: %w: %s does not check accesses: leave Checks at 0, or launch it on the device emu",
			l.Entry.Name(), ErrUnsupported, info.Name)
	}
	for i, b := range l.Zero {
		if b == nil {
			return fmt.Errorf("gpu: launch %s: %w: buffer %d to zero is nil", l.Entry.Name(), ErrArgument, i)
		}
		if err := own(b); err != nil {
			return fmt.Errorf("gpu: launch %s: buffer %d to zero: %w", l.Entry.Name(), i, err)
		}
	}
	return nil
}

// CheckBlock compares a launch's block and its shared memory with the entry
// and the device's limits.
func CheckBlock(info Info, l Launch) error {
	if l.Entry == nil {
		return fmt.Errorf("gpu: launch: %w: no entry", ErrArgument)
	}
	if err := checkBlock(info, l); err != nil {
		return fmt.Errorf("gpu: launch %s: %w", l.Entry.Name(), err)
	}
	return nil
}

func checkBlock(info Info, l Launch) error {
	block := l.Block.Full()
	if err := checkDim("block", block, info.MaxBlock, info); err != nil {
		return err
	}
	attributes := l.Entry.Attributes()
	threads := block.Size()
	switch {
	case threads > info.ThreadsPerBlock:
		return fmt.Errorf("%w: block %v has %d threads, expected at most %d on %s", ErrShape, block, threads, info.ThreadsPerBlock, info.Name)
	case attributes.MaxThreads > 0 && threads > attributes.MaxThreads:
		return fmt.Errorf("%w: block %v has %d threads, expected at most %d as .maxntid says", ErrShape, block, threads, attributes.MaxThreads)
	case attributes.Block != Dim{} && block != attributes.Block.Full():
		return fmt.Errorf("%w: block %v, expected %v as .reqntid says", ErrShape, block, attributes.Block.Full())
	case l.Shared < 0:
		return fmt.Errorf("%w: %d bytes of dynamic shared memory", ErrShape, l.Shared)
	case attributes.SharedBytes > info.SharedPerBlock:
		return fmt.Errorf("%w: %d bytes of static shared memory, expected at most %d: declare it extern and give its size at the launch",
			ErrShape, attributes.SharedBytes, info.SharedPerBlock)
	case l.Shared > info.SharedPerBlockMax-attributes.SharedBytes:
		return fmt.Errorf("%w: %d static + %d dynamic bytes of shared memory, expected at most %d on %s",
			ErrShape, attributes.SharedBytes, l.Shared, info.SharedPerBlockMax, info.Name)
	}
	return nil
}

// ClusterShape is the shape of the launch's clusters: its own, or the one that the entry
// was compiled for, or one block.
func (l Launch) ClusterShape() Dim {
	if l.Cluster != (Dim{}) {
		return l.Cluster.Full()
	}
	if c := l.Entry.Attributes().Cluster; c != (Dim{}) {
		return c.Full()
	}
	return Dim{1, 1, 1}
}

// The most blocks of a cluster: on every GPU with clusters, and with LargeCluster.
const (
	portableCluster = 8
	largeCluster    = 16
)

// ClusterLimit is the most blocks that a cluster of the launch may have on any device.
func (l Launch) ClusterLimit() int {
	if l.LargeCluster {
		return largeCluster
	}
	return portableCluster
}

// CheckHasClusters refuses a question about clusters to a GPU without them.
func CheckHasClusters(info Info, l Launch) error {
	if info.Compute.Major < 9 {
		return fmt.Errorf("gpu: launch %s: %w: clusters, expected sm_90 or later, not %v", l.Entry.Name(), ErrUnsupported, info)
	}
	return nil
}

// CheckCluster compares the shape of a launch's clusters with the entry and the device.
func CheckCluster(info Info, l Launch) error {
	if err := checkCluster(info, l); err != nil {
		return fmt.Errorf("gpu: launch %s: %w", l.Entry.Name(), err)
	}
	return nil
}

func checkCluster(info Info, l Launch) error {
	shape, compiled, most := l.ClusterShape(), l.Entry.Attributes().Cluster, l.ClusterLimit()
	blocks := "blocks"
	if most < largeCluster {
		blocks = fmt.Sprintf("blocks, or %d with LargeCluster on a GPU that holds them", largeCluster)
	}
	switch {
	case shape.X < 1 || shape.Y < 1 || shape.Z < 1:
		return fmt.Errorf("%w: cluster %v, expected at least 1 in each direction", ErrShape, shape)
	case compiled != (Dim{}) && shape != compiled.Full():
		return fmt.Errorf("%w: cluster %v, expected %v as .reqnctapercluster says", ErrShape, shape, compiled.Full())
	case max(shape.X, shape.Y, shape.Z) > most || shape.Size() > most:
		return fmt.Errorf("%w: cluster %v, expected at most %d %s", ErrShape, shape, most, blocks)
	case shape.Size() > 1 && info.Compute.Major < 9:
		return fmt.Errorf("%w: clusters, expected sm_90 or later, not %v", ErrUnsupported, info)
	}
	return nil
}

// CheckResident refuses clusters that the device never holds; clusters is how many of them
// it holds at a time, and most the most blocks of one that it holds.
func CheckResident(info Info, l Launch, clusters, most int) error {
	if clusters > 0 {
		return nil
	}
	return fmt.Errorf("gpu: launch %s: %w: no cluster %v of blocks of %d threads and %d bytes of shared memory fits in a group of SMs of %s, expected at most %d blocks per cluster: use smaller clusters, or blocks with less shared memory or fewer registers",
		l.Entry.Name(), ErrShape, l.ClusterShape(), l.Block.Size(), l.Entry.Attributes().SharedBytes+l.Shared, info.Name, most)
}

// CheckCooperative refuses a cooperative launch of more blocks than fit; perSM
// is the device's Occupancy for it.
func CheckCooperative(info Info, l Launch, perSM int) error {
	if blocks, fit := l.Grid.Size(), info.SMs*perSM; blocks > fit {
		return fmt.Errorf("gpu: launch %s: %w: cooperative grid %v of %d blocks, expected at most %d: so many are resident on %s at a time",
			l.Entry.Name(), ErrShape, l.Grid.Full(), blocks, fit, info.Name)
	}
	return nil
}

func checkDim(what string, d, most Dim, info Info) error {
	if d.X < 1 || d.Y < 1 || d.Z < 1 {
		return fmt.Errorf("%w: %s %v, expected at least 1 in each direction", ErrShape, what, d)
	}
	if d.X > most.X || d.Y > most.Y || d.Z > most.Z {
		return fmt.Errorf("%w: %s %v, expected at most %v on %s", ErrShape, what, d, most, info.Name)
	}
	return nil
}

// CheckAlloc is the size in bytes of n elements of a type.
func CheckAlloc(t Type, n int) (int64, error) {
	if t.Bytes() == 0 {
		return 0, fmt.Errorf("gpu: alloc: %w: type %v, expected a data type such as gpu.Float32", ErrArgument, t)
	}
	if n < 0 || int64(n) > math.MaxInt64/8 {
		return 0, fmt.Errorf("gpu: alloc: %w: %d elements, expected 0 to %d", ErrArgument, n, int64(math.MaxInt64/8))
	}
	return int64(n) * int64(t.Bytes()), nil
}

// CheckCopy compares the types and lengths of the two sides of a copy.
func CheckCopy(dst, src Memory) error {
	if dst == nil || src == nil {
		return fmt.Errorf("gpu: copy: %w: nil memory", ErrArgument)
	}
	if dst.Type() != src.Type() || dst.Len() != src.Len() {
		return fmt.Errorf("gpu: copy: %w: %d %v to %d %v, expected equal types and lengths",
			ErrArgument, src.Len(), src.Type(), dst.Len(), dst.Type())
	}
	return nil
}

// elements are the Go types of the elements.
var elements = map[Type]reflect.Type{
	Int8: reflect.TypeFor[int8](), Uint8: reflect.TypeFor[uint8](),
	Int16: reflect.TypeFor[int16](), Uint16: reflect.TypeFor[uint16](),
	Int32: reflect.TypeFor[int32](), Uint32: reflect.TypeFor[uint32](),
	Int64: reflect.TypeFor[int64](), Uint64: reflect.TypeFor[uint64](),
	Float16: reflect.TypeFor[uint16](), BFloat16: reflect.TypeFor[uint16](),
	Float32: reflect.TypeFor[float32](), Float64: reflect.TypeFor[float64](),
}

// NewSlice makes a slice of n elements of a type.
func NewSlice(t Type, n int) any {
	return reflect.MakeSlice(reflect.SliceOf(elements[t]), n, n).Interface()
}

// SliceBytes is the memory of a slice, which must have the type and length of
// a buffer.
func SliceBytes(slice any, t Type, n int) ([]byte, error) {
	v := reflect.ValueOf(slice)
	if v.Kind() != reflect.Slice || v.Type().Elem() != elements[t] {
		return nil, fmt.Errorf("%w: %T, expected []%v", ErrArgument, slice, elements[t])
	}
	if v.Len() != n {
		return nil, fmt.Errorf("%w: %d elements, expected %d", ErrArgument, v.Len(), n)
	}
	return unsafe.Slice((*byte)(v.UnsafePointer()), n*t.Bytes()), nil
}

// Nearest lists the names closest to a name that does not exist. Names that contain
// it come first, then those with the fewest letters to change, in the whole name or
// in its beginning: sort_v9 is near sort_v0_odd_even.
func Nearest(name string, names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	const most = 3
	far := func(to string) int {
		if strings.Contains(to, name) {
			return -1
		}
		begins := spelling.Distance(name, to[:min(len(name), len(to))])
		return min(spelling.Distance(name, to), begins+1)
	}
	near := append([]string(nil), names...)
	sort.SliceStable(near, func(i, j int) bool { return far(near[i]) < far(near[j]) })
	return "expected one such as " + strings.Join(near[:min(most, len(near))], ", ")
}
