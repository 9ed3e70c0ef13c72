// Package ops is the catalogue of GPU operators, each a ladder of documented
// rungs in a folder of its own, and the names that notebooks use: ops.Reduce,
// ops.MustBench, ops.Rung.
//
// Package ladder defines an operator; package bench checks, times and counts its rungs, and
// package results shows what it found. An operator is one folder and one line here. Cells,
// notebooks and the commands of ops/cmd import it; an operator, ladder and bench must not.
package ops

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/concat"
	"warpbook/ops/conv1d"
	"warpbook/ops/conv2d"
	"warpbook/ops/copyif"
	"warpbook/ops/fused"
	"warpbook/ops/gelu"
	"warpbook/ops/gemm"
	"warpbook/ops/histogram"
	"warpbook/ops/pool"
	"warpbook/ops/reduce"
	"warpbook/ops/results"
	"warpbook/ops/scan"
	"warpbook/ops/softmax"
	"warpbook/ops/sort"
	"warpbook/ops/sparse"
	"warpbook/ops/transpose"
	"warpbook/ops/triangles"
	"warpbook/ops/vectoradd"
	"warpbook/ops/vectorcopy"
)

// The operators by the names that notebooks use.
var (
	// Reduce sums a vector: y[0] = x[0] + ... + x[n-1]. See package reduce.
	Reduce = reduce.Operator

	// ReduceMistakes is Reduce with the kernels of the notes where they are wrong.
	ReduceMistakes = reduce.Mistakes

	// Gemm multiplies matrices of float32: c = a b. See package gemm.
	Gemm = gemm.Operator

	// GemmTF32 is Gemm on tensor cores, with factors rounded to TF32.
	GemmTF32 = gemm.TF32

	// GemmBF16 is Gemm of bfloat16, which adds in float32.
	GemmBF16 = gemm.BF16

	// GemmFP16 is Gemm of float16, which adds in float32.
	GemmFP16 = gemm.FP16

	// GemmBatched multiplies many pairs of matrices of one size.
	GemmBatched = gemm.Batched

	// GemmBiasReLU is Gemm with a bias for each column, and max(0, x) of the sum.
	GemmBiasReLU = gemm.BiasReLU

	// Transpose turns rows into columns: b[c][r] = a[r][c]. See package transpose.
	Transpose = transpose.Operator

	// Copy copies a matrix: b[r][c] = a[r][c], the limit of Transpose.
	Copy = transpose.Copy

	// TransposeTrials is Transpose with trials of single rungs: __ldg, 16 warps, TMA.
	TransposeTrials = transpose.Trials

	// Softmax turns rows into shares that add to 1: e^(x - max) / sum. See package softmax.
	Softmax = softmax.Operator

	// LogSoftmax is the logarithm of Softmax.
	LogSoftmax = softmax.Log

	// MaskedSoftmax is Softmax of the elements whose mask is not 0.
	MaskedSoftmax = softmax.Masked

	// SoftmaxMistakes is Softmax with kernels that overflow.
	SoftmaxMistakes = softmax.Mistakes

	// Scan computes prefix sums: y[i] = x[0] + ... + x[i], of float32. See package scan.
	Scan = scan.Operator

	// ScanInt32 is Scan of int32, which wraps around.
	ScanInt32 = scan.Int32

	// ScanUint64 is Scan of uint64, which wraps around.
	ScanUint64 = scan.Uint64

	// ScanByKey is Scan that begins again where a key changes.
	ScanByKey = scan.ByKey

	// Cumsum scans each row of a matrix.
	Cumsum = scan.Rows

	// ScanMistakes is Scan with a kernel that hangs where blocks do not start in order.
	ScanMistakes = scan.Mistakes

	// Sort sorts keys of uint32. See package sort.
	Sort = sort.Operator

	// SortInt32 sorts keys of int32.
	SortInt32 = sort.Int32

	// SortFloat32 sorts keys of float32 in the total order of IEEE 754.
	SortFloat32 = sort.Float32

	// SortUint64 sorts keys of uint64.
	SortUint64 = sort.Uint64

	// SortPairs sorts keys of uint32 with values; equal keys keep their order.
	SortPairs = sort.Pairs

	// SortMistakes is SortPairs with sorts that lose the order of equal keys, or values.
	SortMistakes = sort.Mistakes

	// CopyIf copies the elements above 0, side by side. See package copyif.
	CopyIf = copyif.Operator

	// CopyIfMistakes is CopyIf with the listings of the notes as they stand.
	CopyIfMistakes = copyif.Mistakes

	// Histogram counts values: counts[v] = |{i : x[i] = v}|. See package histogram.
	Histogram = histogram.Operator

	// HistogramBytes is Histogram of bytes. See package histogram.
	HistogramBytes = histogram.Bytes

	// VectorAdd adds two vectors: z[i] = x[i] + y[i]. See package vectoradd.
	VectorAdd = vectoradd.Operator

	// VectorCopy copies a vector: y[i] = x[i], in many launches. See package vectorcopy.
	VectorCopy = vectorcopy.Operator

	// Gelu is GELU of float16 in its tanh form. See package gelu.
	Gelu = gelu.Operator

	// GeluErf is GELU of float16 as it is defined, by erf.
	GeluErf = gelu.Erf

	// Fused adds a bias, masks, scales and adds a tensor, of float32. See package fused.
	Fused = fused.Operator

	// FusedHalf is Fused of float16.
	FusedHalf = fused.Half

	// Conv1d correlates a vector with a mask: y[i] = sum mask[j] x[i+j-k/2]. See package conv1d.
	Conv1d = conv1d.Operator

	// Convolution1d is Conv1d with the mask from its end: a convolution.
	Convolution1d = conv1d.Convolution

	// Conv1dMistakes is Conv1d with the listing of note 001 as it stands.
	Conv1dMistakes = conv1d.Mistakes

	// Conv2d is a convolution of images as networks have it, NCHW. See package conv2d.
	Conv2d = conv2d.Operator

	// Conv2dNHWC is Conv2d with channels innermost.
	Conv2dNHWC = conv2d.NHWC

	// Conv2dBiasReLU is Conv2d with a bias for each channel, and max(0, y) of the sum.
	Conv2dBiasReLU = conv2d.BiasReLU

	// Conv2dWinograd2 is Conv2d of 3 x 3 filters by Winograd's F(2 x 2, 3 x 3).
	Conv2dWinograd2 = conv2d.Winograd2

	// Conv2dWinograd4 is Conv2d of 3 x 3 filters by Winograd's F(4 x 4, 3 x 3).
	Conv2dWinograd4 = conv2d.Winograd4

	// Conv2dFP16 is Conv2d of float16 on tensor cores, NHWC, with bias and ReLU.
	Conv2dFP16 = conv2d.FP16

	// Conv2dBF16 is Conv2d of bfloat16 on tensor cores, NHWC, with bias and ReLU.
	Conv2dBF16 = conv2d.BF16

	// Conv2dTF32 is Conv2d on tensor cores, with factors rounded to TF32, NHWC.
	Conv2dTF32 = conv2d.TF32

	// Conv3d is Conv2d of volumes, NCDHW.
	Conv3d = conv2d.Volumes

	// Conv3dFP16 is Conv3d of float16 on tensor cores, NDHWC, with bias and ReLU.
	Conv3dFP16 = conv2d.VolumesFP16

	// Conv3dBF16 is Conv3d of bfloat16 on tensor cores, NDHWC, with bias and ReLU.
	Conv3dBF16 = conv2d.VolumesBF16

	// Conv3dTF32 is Conv3d on tensor cores, with factors rounded to TF32, NDHWC.
	Conv3dTF32 = conv2d.VolumesTF32

	// MaxPool is the maximum of windows and its place. See package pool.
	MaxPool = pool.Max

	// MaxPoolInnermost is the maximum of windows of images whose channels lie innermost.
	MaxPoolInnermost = pool.MaxInnermost

	// AvgPool is the mean of windows.
	AvgPool = pool.Avg

	// MaxPoolMistakes is MaxPool with kernels that pad with 0 or lose NaN.
	MaxPoolMistakes = pool.Mistakes

	// SpMV multiplies a sparse matrix in CSR by a vector: y = A x. See package sparse.
	SpMV = sparse.SpMV

	// SpMVWide is SpMV with offsets of 64 bits, for 2^31 entries and more.
	SpMVWide = sparse.SpMVWide

	// SpMVCOO is SpMV of a matrix of triples: row, column, value.
	SpMVCOO = sparse.SpMVCOO

	// SpMM multiplies a sparse matrix in CSR by a dense one: C = A B.
	SpMM = sparse.SpMM

	// SpGEMM multiplies two sparse matrices: C = A B, all in CSR.
	SpGEMM = sparse.SpGEMM

	// CSRToCOO writes the row of each entry of a matrix in CSR.
	CSRToCOO = sparse.ToCOO

	// COOToCSR writes the offsets of rows of triples that are sorted by row.
	COOToCSR = sparse.FromCOO

	// Concat joins tensors along a dimension: y[r] = x0[r] | x1[r]. See package concat.
	Concat = concat.Operator

	// Triangles counts the triangles of a graph. See package triangles.
	Triangles = triangles.Operator
)

// Operators lists every operator, in the order of the notebooks.
func Operators() []*Operator {
	return slices.Concat(
		reduce.Operators(),
		gemm.Operators(),
		transpose.Operators(),
		copyif.Operators(),
		histogram.Operators(),
		vectoradd.Operators(),
		vectorcopy.Operators(),
		gelu.Operators(),
		fused.Operators(),
		concat.Operators(),
		conv1d.Operators(),
		conv2d.Operators(),
		pool.Operators(),
		softmax.Operators(),
		scan.Operators(),
		sort.Operators(),
		triangles.Operators(),
		sparse.Operators(),
	)
}

// Find returns an operator by name; the error for an unknown name lists the
// nearest ones.
func Find(name string) (*Operator, error) {
	var names []string
	for _, o := range Operators() {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return nil, fmt.Errorf("ops: operator %q: %w, %s", name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// MeasuredRun returns the figures of measured/NAME.json of an operator's folder; the
// error for an unknown name lists the nearest ones. A name with a slash is that of a
// file of the caller's, as ops/cmd/measured makes it, without its .json.
func MeasuredRun(name string) (*Measured, error) { return results.MeasuredRun(Operators(), name) }

// MustMeasuredRun is MeasuredRun for notebooks, where an error ends the cell.
func MustMeasuredRun(name string) *Measured {
	m, err := MeasuredRun(name)
	if err != nil {
		panic(err)
	}
	return m
}
