package puzzles

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"warpbook/gpu"
)

// Array is an input or the output of a puzzle.
type Array struct {
	Name  string
	Shape []int // the last direction is the fastest
	Int   bool  // int32; else float32
}

// Len is the number of elements.
func (a Array) Len() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

func (a Array) String() string {
	kind := "float"
	if a.Int {
		kind = "int"
	}
	return fmt.Sprintf("%s %s[%s]", kind, a.Name, strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape), "[]"), " ", "]["))
}

// Puzzle is a kernel to write.
type Puzzle struct {
	Name    string // "map", and the kernel is puzzle_map
	Task    string // one sentence
	Grid    gpu.Dim
	Block   gpu.Dim
	Out     Array
	In      []Array
	Scalars []Scalar // arguments behind the arrays
	Hints   []string
	Limits  []Limit

	// Want is the output for inputs, in float64. Values are exact in float32.
	Want func(in [][]float64) []float64
	// Tolerance is the largest error, as a share of the largest value of the output or of 1;
	// 0 for results without rounding.
	Tolerance float64
	// Range bounds the inputs: whole numbers from -Range to Range, without 0; 0 is 500.
	Range int
	// Real takes inputs from -2 to 2 that are no whole numbers.
	Real bool
	// Triton is true for the puzzles of Triton: their solutions are in triton.cu, and in
	// triton/puzzles.py, of which Triton made triton/NAME.ptx.
	Triton bool
}

// Scalar is a number that the kernel is given.
type Scalar struct {
	Name  string
	Value int
}

// Limit is a rule on the accesses of an answer.
type Limit struct {
	Count string // of Score.count
	Most  int    // without Least
	Least int    // if it is not 0
	Why   string
}

// Kernel is the name of the answer's function.
func (p *Puzzle) Kernel() string { return "puzzle_" + p.Name }

// Declaration is the first line of an answer.
func (p *Puzzle) Declaration() string {
	params := []string{pointer(p.Out, false)}
	for _, a := range p.In {
		params = append(params, pointer(a, true))
	}
	for _, s := range p.Scalars {
		params = append(params, "int "+s.Name)
	}
	return fmt.Sprintf("__global__ void %s(%s)", p.Kernel(), strings.Join(params, ", "))
}

func pointer(a Array, constant bool) string {
	text := "float* " + a.Name
	if a.Int {
		text = "int* " + a.Name
	}
	if constant {
		text = "const " + text
	}
	return text
}

// arrays are the output and the inputs, in the order of the kernel's parameters.
func (p *Puzzle) arrays() []Array { return append([]Array{p.Out}, p.In...) }

// inputs makes the inputs of a seed. The values of an array differ where Range allows it, so
// that a wrong index shows.
func (p *Puzzle) inputs(seed uint64) (in [][]float64) {
	random := rand.New(rand.NewPCG(seed, 25))
	for _, a := range p.In {
		values := make([]float64, a.Len())
		switch {
		case a.Int:
			for i := range values {
				values[i] = float64(int32(random.Uint32()))
			}
		case p.Real:
			for i := range values {
				values[i] = float64(float32(4*random.Float64() - 2))
			}
		default:
			most := max(500, a.Len())
			if p.Range > 0 {
				most = p.Range
			}
			order := random.Perm(2 * most) // -most to most without 0
			for i := range values {
				v := order[i%len(order)] - most
				if v >= 0 {
					v++
				}
				values[i] = float64(v)
			}
		}
		in = append(in, values)
	}
	return in
}

// Course checks answers on an emulator with inputs of a seed. One goroutine uses it.
type Course struct {
	dev    gpu.Device
	seed   uint64
	scores map[string]*Verdict // the last verdict by puzzle
}

// New returns a course. The device must be one that checks and counts: "emu".
func New(dev gpu.Device, seed int) (*Course, error) {
	if dev.Info().Checks&checks != checks {
		return nil, fmt.Errorf("puzzles: %v finds no races: open the course with device.MustOpen(\"emu\")", dev.Info())
	}
	return &Course{dev, uint64(seed), map[string]*Verdict{}}, nil
}

// Must is New for notebooks, where an error ends the cell.
func Must(dev gpu.Device, seed int) *Course {
	c, err := New(dev, seed)
	if err != nil {
		panic(err)
	}
	return c
}

// Find returns a puzzle by its name; the error for an unknown one lists the nearest.
func Find(name string) (*Puzzle, error) {
	var names []string
	for _, p := range all {
		if names = append(names, p.Name); p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("puzzles: no puzzle %q, %s", name, gpu.Nearest(name, names))
}

// All are the puzzles, in the order of the notebook: the fourteen, then those of Triton.
func All() []*Puzzle { return all }
