package ops

import (
	"warpbook/gpu"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
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

// What package bench measures.
type (
	Bench          = bench.Bench
	Cache          = bench.Cache
	Check          = bench.Check
	CheckMatrix    = bench.CheckMatrix
	Checks         = bench.Checks
	Clock          = bench.Clock
	Count          = bench.Count
	Counts         = bench.Counts
	Environment    = bench.Environment
	Handle         = bench.Handle
	Latencies      = bench.Latencies
	Latency        = bench.Latency
	Measured       = bench.Measured
	MeasuredTimes  = bench.MeasuredTimes
	Method         = bench.Method
	Peers          = bench.Peers
	Progress       = bench.Progress
	Roofs          = bench.Roofs
	Sample         = bench.Sample
	ShortLatencies = bench.ShortLatencies
	SideBySide     = bench.SideBySide
)

// The clocks and the states of L2 of a Method.
const (
	Events     = bench.Events
	BackToBack = bench.BackToBack
	Graph      = bench.Graph
	Warm       = bench.Warm
	Flushed    = bench.Flushed
	Rotated    = bench.Rotated
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
	Faster       = bench.Faster
	Slower       = bench.Slower
	Same         = bench.Same
	Ambiguous    = bench.Ambiguous
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

// MustBench is NewBench for notebooks, where an error ends the cell: it loads
// the operator's PTX and makes inputs of a size, n of Reduce, and m, n, k of Gemm.
func MustBench(device gpu.Device, operator *Operator, seed uint64, size ...int) *Bench {
	return bench.Must(device, operator, seed, size...)
}

// NewHandle is a handle that runs operators on buffers of the caller's. Close
// releases the PTX that it loads.
func NewHandle(device gpu.Device) *Handle { return bench.NewHandle(device) }

// ParseMethod finds a method by the names in records: "events", "back to back",
// "graph"; "warm", "flushed", "rotated".
func ParseMethod(clock, cache string) (Method, error) { return bench.ParseMethod(clock, cache) }

// Bound is the largest error that rounding can cause, as a share of the sum of
// |terms|, when at most depth additions that round lie between a term and the
// result.
func Bound(depth int) float64 { return ladder.Bound(depth) }
