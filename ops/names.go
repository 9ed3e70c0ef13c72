package ops

import (
	"warpbook/gpu"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
	"warpbook/ops/run"
)

// The model of package ladder.
type (
	Argument     = ladder.Argument
	Batch        = ladder.Batch
	Case         = ladder.Case
	Code         = ladder.Code
	DataSet      = ladder.DataSet
	Expectation  = ladder.Expectation
	Expectations = ladder.Expectations
	Expected     = ladder.Expected
	Figure       = ladder.Figure
	InnerLoop    = ladder.InnerLoop
	Judge        = ladder.Judge
	MachineTable = ladder.MachineTable
	Matrix       = ladder.Matrix
	Note         = ladder.Note
	Parameter    = ladder.Parameter
	Operator     = ladder.Operator
	Plan         = ladder.Plan
	Rung         = ladder.Rung
	Size         = ladder.Size
	Step         = ladder.Step
	Stop         = ladder.Stop
	Tensor       = ladder.Tensor
	Table        = ladder.Table
	TensorMap    = ladder.TensorMap
	Values       = ladder.Values
	Variant      = ladder.Variant
	Work         = ladder.Work
)

// Handle runs operators on buffers of the caller's.
type Handle = run.Handle

// What package bench measures, and the results.
type (
	Bench          = bench.Bench
	Cache          = results.Cache
	Check          = results.Check
	CheckMatrix    = results.CheckMatrix
	Checks         = results.Checks
	Clock          = results.Clock
	Count          = results.Count
	Counts         = results.Counts
	Environment    = results.Environment
	Latencies      = results.Latencies
	Latency        = results.Latency
	Measured       = results.Measured
	MeasuredTimes  = results.MeasuredTimes
	Method         = results.Method
	Peers          = results.Peers
	Progress       = bench.Progress
	Roofs          = results.Roofs
	Sample         = results.Sample
	ShortLatencies = results.ShortLatencies
	SideBySide     = results.SideBySide
	Steps          = results.Steps
)

// The clocks and the states of L2 of a Method.
const (
	Events     = results.Events
	BackToBack = results.BackToBack
	Graph      = results.Graph
	Warm       = results.Warm
	Flushed    = results.Flushed
	Rotated    = results.Rotated
)

// The checks that a result can fail.
const (
	CheckBound     = ladder.CheckBound
	CheckTolerance = ladder.CheckTolerance
	CheckNaN       = ladder.CheckNaN
	CheckUnwritten = ladder.CheckUnwritten
	CheckBeyond    = ladder.CheckBeyond
	CheckInput     = ladder.CheckInput
	CheckOrder     = ladder.CheckOrder
	CheckLength    = ladder.CheckLength
	CheckCount     = ladder.CheckCount
	CheckExact     = ladder.CheckExact
	CheckULP       = ladder.CheckULP
	CheckElements  = ladder.CheckElements
	CheckUndefined = ladder.CheckUndefined
)

// The verdicts on a result, and on two times.
const (
	Pass         = ladder.Pass
	Fail         = ladder.Fail
	FailExpected = ladder.FailExpected
	PassExpected = ladder.PassExpected
	Faster       = results.Faster
	Slower       = results.Slower
	Same         = results.Same
)

// Tolerance is the error that no result may exceed, as a share of the sum of
// the absolute values of its terms.
const Tolerance = ladder.Tolerance

// ErrDisturbed is the kind of error of a time that is not taken, because other work
// on the GPU would change it.
var ErrDisturbed = bench.ErrDisturbed

// NewBench loads an operator's PTX and makes inputs of the given seed and size,
// n of Reduce, and m, n, k of Gemm. Close releases its device memory.
func NewBench(device gpu.Device, operator *Operator, seed uint64, size ...int) (*Bench, error) {
	return bench.New(device, operator, seed, size...)
}

// MustSteps is the table of an operator's rungs at a size of a committed run, beside a limit
// of that run, for notebooks, where an error ends the cell.
func MustSteps(o *Operator, run *Measured, size Size, limit string, rungs ...string) *Steps {
	s, err := results.NewSteps(o, run, size, limit, rungs...)
	if err != nil {
		panic(err)
	}
	return s
}

// MustTile is the picture of the tile of a matrix that the first block of a rung stores, in
// rows of so many elements: which of them a thread, its warp and other warps have. It is
// drawn from the stores of the rung's PTX. An error ends the cell.
func MustTile(b *Bench, rung, output string, rowLength int) *results.TilePicture {
	touches, err := bench.Touches(b, rung, output)
	var tile *results.TilePicture
	if err == nil {
		tile, err = touches.Tile(rowLength)
	}
	if err != nil {
		panic(err)
	}
	return tile
}

// MustBorder is the picture of what the first two blocks of a rung load of an input around
// the border between their outputs. It is drawn from the accesses of the rung's PTX. An
// error ends the cell.
func MustBorder(b *Bench, rung, input, output string) *results.BorderPicture {
	var picture *results.BorderPicture
	loads, err := bench.Touches(b, rung, input)
	if err == nil {
		var stores *results.Touches
		if stores, err = bench.Touches(b, rung, output); err == nil {
			picture, err = loads.Border(stores)
		}
	}
	if err != nil {
		panic(err)
	}
	return picture
}

// MustBench is NewBench for notebooks, where an error ends the cell: it loads
// the operator's PTX and makes inputs of a size, n of Reduce, and m, n, k of Gemm.
func MustBench(device gpu.Device, operator *Operator, seed uint64, size ...int) *Bench {
	return bench.Must(device, operator, seed, size...)
}

// NewHandle is a handle that runs operators on buffers of the caller's. Close
// releases the PTX that it loads.
func NewHandle(device gpu.Device) *Handle { return run.NewHandle(device) }

// ParseMethod finds a method by the names in records: "events", "back to back",
// "graph"; "warm", "flushed", "rotated".
func ParseMethod(clock, cache string) (Method, error) { return results.ParseMethod(clock, cache) }

// Bound is the largest error that rounding can cause, as a share of the sum of
// |terms|, when at most depth additions that round lie between a term and the
// result.
func Bound(depth int) float64 { return ladder.Bound(depth) }
