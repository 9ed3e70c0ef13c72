// Package triangles counts the triangles of a graph: a ladder of rungs from a merge of two
// rows to tables of packed words in shared memory. FromEdges orients a graph, Of makes the
// operator for it, and RMAT makes edges; Count runs it on a graph of the host. Package ops lists
// the operator. It must never import ops/bench.
package triangles

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 triangles.cu dense.cu

// Operator counts the triangles of a graph that is oriented by degree.
//
// count[0] = |{(u, v, w) : u > v > w, and the edges u-v, u-w and v-w are there}|.
//
// rows and columns are those of a Graph: strictly lower triangular, columns rising within
// a row. columns has room for the edges of the size; rows[vertices] says how many there
// are. The orientation is done before, on the host, and is no part of a time.
//
// Parameters: first, the first vertex u whose triangles are counted: rows before it are
// looked up only, as a part of a graph has them (see Graph.Part).
// Shapes: rows (vertices + 1), columns (edges), count (1). Types: rows and columns
// uint32, count uint64.
// Error:  none, the count is exact.
// Cost:   4 vertices + 4 edges + 12 bytes; the wedges that a rung looks up bind, and
// their number depends on the graph.
// Source: founding note 001, which asks how triangles are counted on several devices.
var Operator = of(nil, 0)

// Of is the operator for a graph of the caller's: its first data set, of the size
// g.Vertices(), g.Edges(). A graph whose rows are not oriented is refused. Of a part of a
// graph, the triangles of its own vertices are counted.
func Of(g *Graph) (*ladder.Operator, error) {
	if g == nil {
		return nil, fmt.Errorf("ops: triangles: %w: no graph, expected one of FromEdges or Oriented", gpu.ErrArgument)
	}
	if err := valid(g.Rows, g.Columns); err != nil {
		return nil, err
	}
	if g.First < 0 || g.First > g.Vertices() {
		return nil, fmt.Errorf("ops: triangles: %w: first = %d, expected 0 to %d", gpu.ErrArgument, g.First, g.Vertices())
	}
	return of(g, g.First), nil
}

// MustOf is Of for notebooks, where an error ends the cell.
func MustOf(g *Graph) *ladder.Operator {
	o, err := Of(g)
	if err != nil {
		panic(err)
	}
	return o
}

func of(g *Graph, first int) *ladder.Operator {
	return &ladder.Operator{
		Name:    "triangles",
		Folder:  folder,
		Files:   files,
		Peers:   []string{"triangles.py"},
		Formula: "count = |{u > v > w : u-v, u-w and v-w are edges}|",
		Source:  "founding note 001",
		Dims:    []string{"vertices", "edges"},
		MaxDim:  math.MaxInt32,
		Inputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "rows", Len: s[0] + 1, Type: gpu.Uint32}, {Name: "columns", Len: s[1], Type: gpu.Uint32}}
		},
		Outputs: func(ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "count", Len: 1, Type: gpu.Uint64}}
		},
		ValidInputs: func(_ ladder.Size, inputs []ladder.Values) error {
			return valid(inputs[0].([]uint32), inputs[1].([]uint32))
		},
		Reference: func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
			g := &Graph{Rows: inputs[0].([]uint32), Columns: inputs[1].([]uint32), First: min(first, len(inputs[0].([]uint32))-1)}
			return []ladder.Expected{{Exact: []uint64{g.count(stop)}}}
		},
		Data:       dataSets(g),
		Cases:      cases,
		Parameters: []ladder.Parameter{{Name: "first", Value: float64(first), Whole: true}},
		Remake: func(values []float64) (*ladder.Operator, error) {
			if v := values[0]; v < 0 || v > math.MaxInt32 {
				return nil, fmt.Errorf("ops: triangles: first = %v: %w, expected a whole number from 0 to %d", v, gpu.ErrArgument, math.MaxInt32)
			}
			return of(g, int(values[0])), nil
		},
		Work: func(s ladder.Size) ladder.Work {
			return ladder.Work{Bytes: 4*float64(s[0]) + 4*float64(s[1]) + 12, Operations: float64(s[1]), Unit: "edges"}
		},
		Variants: variants(counted(first)),
	}
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator}
}
