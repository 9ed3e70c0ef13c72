package sparse

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// matrix makes matrices of a kind, with exactly nnz entries.
type matrix struct {
	name, text string
	structure  func(stop ladder.Stop, m *CSR, nnz int, random *rand.Rand)
}

// special is the name of the data set with NaN, infinities and stored zeros.
const special = "special"

// matrices are the data sets of matrices in CSR.
var matrices = []matrix{
	{"banded", "a band around the diagonal, rows of one length", banded},
	{"random", "entries at random places, sorted by column; places may repeat", scattered},
	{"rmat", "a power law: RMAT with 0.57, 0.19, 0.19, 0.05, sorted; places may repeat", rmat},
	{"blocks", "dense blocks of 16 columns at random places, the same for 16 rows", blocks},
	{"huge rows", "half of the entries in one row, half of the rows empty", huge},
	{"unsorted", "entries at random places in no order, one of four a repeat of the one before", unsorted},
	{special, "entries at random places; one of a hundred values is NaN, an infinity, 0 or a subnormal, and so in x", scattered},
}

// make makes a matrix with uniform values.
func (d matrix) make(stop ladder.Stop, rows, columns, nnz int, random *rand.Rand) CSR {
	m := CSR{Rows: rows, Columns: columns, Offsets: make([]int32, rows+1), Index: make([]int32, nnz)}
	if nnz > 0 {
		d.structure(stop, &m, nnz, random)
	}
	values := ladder.Tensor{Name: "values", Len: nnz}
	m.Values = d.dense(stop, values, random).([]float32)
	if d.name == special { // stored zeros
		for i := 0; i < nnz; i += 7 {
			m.Values[i] = 0
		}
	}
	return m
}

// dense makes uniform numbers, or special ones among them.
func (d matrix) dense(stop ladder.Stop, t ladder.Tensor, random *rand.Rand) ladder.Values {
	set := ladder.UniformData
	if d.name == special {
		set = ladder.SpecialData
	}
	return set.Make(stop, []ladder.Tensor{t}, random)[0]
}

// New makes a matrix of a named data set of SpMV, with nnz entries.
func New(data string, rows, columns, nnz int, seed uint64) (CSR, error) {
	if err := SpMV.CheckSize(ladder.Size{rows, columns, nnz}); err != nil {
		return CSR{}, err
	}
	if _, err := SpMV.DataSet(data); err != nil {
		return CSR{}, err
	}
	if err := gpu.CheckHost(8*float64(nnz) + 4*float64(rows)); err != nil {
		return CSR{}, fmt.Errorf("ops: sparse: a matrix of %d rows and %d entries: %w: take a smaller one", rows, nnz, err)
	}
	i := max(0, slices.IndexFunc(matrices, func(d matrix) bool { return d.name == data }))
	return matrices[i].make(nil, rows, columns, nnz, ladder.NewRandom(seed)), nil
}

// evenly gives every row its share of the entries.
func (m *CSR) evenly() {
	nnz := len(m.Index)
	for r := range m.Offsets {
		high, low := bits.Mul64(uint64(r), uint64(nnz))
		q, _ := bits.Div64(high, low, uint64(m.Rows))
		m.Offsets[r] = int32(q)
	}
}

func banded(stop ladder.Stop, m *CSR, _ int, _ *rand.Rand) {
	m.evenly()
	stop.Pieces(m.Rows, func(from, to int) {
		for r := from; r < to; r++ {
			first, n := int(m.Offsets[r]), int(m.Offsets[r+1]-m.Offsets[r])
			diagonal := int(float64(r) / float64(m.Rows) * float64(m.Columns))
			start := min(max(0, diagonal-n/2), max(0, m.Columns-n))
			for i := range n {
				m.Index[first+i] = int32((start + i) % m.Columns)
			}
		}
	})
}

func scattered(stop ladder.Stop, m *CSR, nnz int, random *rand.Rand) {
	row, column := make([]int32, nnz), make([]int32, nnz)
	pieces(stop, nnz, random, func(from, to int, random *rand.Rand) {
		for i := from; i < to; i++ {
			row[i], column[i] = int32(random.IntN(m.Rows)), int32(random.IntN(m.Columns))
		}
	})
	m.sorted(stop, row, column)
}

// rmat draws a quadrant for each bit of a place, by 16 random bits.
func rmat(stop ladder.Stop, m *CSR, nnz int, random *rand.Rand) {
	row, column := make([]int32, nnz), make([]int32, nnz)
	levels := bits.Len(uint(max(m.Rows, m.Columns) - 1))
	pieces(stop, nnz, random, func(from, to int, random *rand.Rand) {
		for i := from; i < to; {
			r, c, left := 0, 0, uint64(0)
			for level := range levels {
				if level%4 == 0 {
					left = random.Uint64()
				}
				right, down := quadrant(left & 0xffff)
				c, r, left = c|right<<level, r|down<<level, left>>16
			}
			if r < m.Rows && c < m.Columns {
				row[i], column[i] = int32(r), int32(c)
				i++
			}
		}
	})
	m.sorted(stop, row, column)
}

// quadrant is the right one for a share of 0.19 and 0.05 of 2^16 numbers, and the lower one
// for other 0.19 and the same 0.05. It has no branches, which would be mispredicted.
func quadrant(v uint64) (right, down int) {
	a, b, c := 0, 0, 0
	if v >= 37_356 {
		a = 1
	}
	if v >= 49_807 {
		b = 1
	}
	if v >= 62_259 {
		c = 1
	}
	return a - b + c, b
}

// pieces calls f for the parts of n elements on all cores, each with random numbers of its
// own: the same for every number of cores.
func pieces(stop ladder.Stop, n int, random *rand.Rand, f func(from, to int, random *rand.Rand)) {
	seed := random.Uint64()
	stop.Parallel(n, func(from, to int) { f(from, to, rand.New(rand.NewPCG(seed, uint64(from)))) })
}

func blocks(stop ladder.Stop, m *CSR, _ int, random *rand.Rand) {
	m.evenly()
	wide := ladder.CeilDiv(m.Columns, 16)
	var block []int // of 16 rows
	stop.Pieces(m.Rows, func(from, to int) {
		for r := from; r < to; r++ {
			if r%16 == 0 {
				block = block[:0]
			}
			first, n := int(m.Offsets[r]), int(m.Offsets[r+1]-m.Offsets[r])
			for len(block) < ladder.CeilDiv(n, 16) {
				block = append(block, random.IntN(wide))
			}
			slices.Sort(block)
			for i := range n {
				m.Index[first+i] = int32(min(16*block[i/16]+i%16, m.Columns-1))
			}
		}
	})
}

// huge leaves the even rows empty, the first and, where they are odd, the last too.
func huge(stop ladder.Stop, m *CSR, nnz int, random *rand.Rand) {
	row, column := make([]int32, nnz), make([]int32, nnz)
	long := int32(random.IntN(m.Rows))
	stop.Pieces(nnz, func(from, to int) {
		for i := from; i < to; i++ {
			row[i], column[i] = int32(min(random.IntN(m.Rows)|1, m.Rows-1)), int32(random.IntN(m.Columns))
			if i%2 == 0 {
				row[i] = long
			}
		}
	})
	m.sorted(stop, row, column)
}

func unsorted(stop ladder.Stop, m *CSR, nnz int, random *rand.Rand) {
	scattered(stop, m, nnz, random)
	for r := range m.Rows {
		part := m.Index[m.Offsets[r]:m.Offsets[r+1]]
		random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		for i := 1; i < len(part); i++ {
			if random.IntN(4) == 0 {
				part[i] = part[i-1]
			}
		}
	}
}

// sorted sets offsets and columns to those of the places, sorted by row, and by column
// within each: two passes of a counting sort, the second of which keeps the order of the
// first.
func (m *CSR) sorted(stop ladder.Stop, row, column []int32) {
	byColumn := make([]int32, len(row)) // rows in the order of their columns
	next := starts(column, m.Columns)
	stop.Pieces(len(row), func(from, to int) {
		for i := from; i < to; i++ {
			c := column[i]
			byColumn[next[c]] = row[i]
			next[c]++
		}
	})
	// next[c] is now the end of column c among byColumn.
	copy(m.Offsets, starts(row, m.Rows))
	place := slices.Clone(m.Offsets)
	c := 0
	stop.Pieces(len(row), func(from, to int) {
		for i := from; i < to; i++ {
			for int(next[c]) <= i {
				c++
			}
			r := byColumn[i]
			m.Index[place[r]] = int32(c)
			place[r]++
		}
	})
}

// starts are the places at which each key begins in the order of the keys, and their
// number at the end.
func starts(keys []int32, n int) []int32 {
	at := make([]int32, n+1)
	for _, k := range keys {
		at[k+1]++
	}
	for k := range n {
		at[k+1] += at[k]
	}
	return at
}

// rowOfEach is the row of each entry.
func (m CSR) rowOfEach(stop ladder.Stop) []int32 {
	row := make([]int32, len(m.Index))
	stop.Pieces(m.Rows, func(from, to int) {
		for r := from; r < to; r++ {
			for i := m.Offsets[r]; i < m.Offsets[r+1]; i++ {
				row[i] = int32(r)
			}
		}
	})
	return row
}

// rows calls f for each of n rows on all cores.
func rows(stop ladder.Stop, n int, f func(r int)) {
	stop.ParallelBy(64, n, func(from, to int) {
		for r := from; r < to; r++ {
			f(r)
		}
	})
}

// convertCases bracket warps, blocks of 256 rows, threads of 8 entries and blocks of 2048,
// with every data set.
var convertCases = func() (all []ladder.Case) {
	for _, s := range []ladder.Size{{0, 0}, {5, 0}, {1, 1}, {255, 8}, {257, 2047}, {1, 2048}, {300, 2049}, {4099, 40_001}} {
		all = append(all, ladder.Case{Size: s})
	}
	for _, data := range []string{"random", "rmat", "blocks", "huge rows"} {
		all = append(all, ladder.Case{Size: ladder.Size{1021, 15_013}, Data: data})
	}
	return append(all,
		ladder.Case{Size: ladder.Size{20_011, 300}, Data: "huge rows"},
		ladder.Case{Size: ladder.Size{20_011, 300}, Data: "random"},
		ladder.Case{Size: ladder.Size{601, 5003}, Start: 1})
}()

// spmvCases bracket warps, blocks of 256 rows, and tiles of 2048 entries or steps and 3072
// products, with every data set.
func spmvCases() (all []ladder.Case) {
	for _, s := range []ladder.Size{{0, 0, 0}, {1, 1, 1}, {0, 5, 0}, {5, 0, 0}, {300, 7, 0}, {1, 9, 40}, {257, 31, 2048}, {300, 300, 2049}, {63, 5000, 4095}, {4099, 4099, 65_537}} {
		all = append(all, ladder.Case{Size: s})
	}
	for _, d := range matrices {
		all = append(all, ladder.Case{Size: ladder.Size{1021, 997, 15_013}, Data: d.name})
	}
	return append(all,
		ladder.Case{Size: ladder.Size{3, 1000, 9001}, Data: "huge rows"},
		ladder.Case{Size: ladder.Size{3, 500, 302}}, // the second row ends inside a vector, and begins at one's start
		ladder.Case{Size: ladder.Size{20_011, 64, 4000}, Data: "huge rows"},
		ladder.Case{Size: ladder.Size{601, 601, 5003}, Start: 1},
		ladder.Case{Size: ladder.Size{1 << 16, 1 << 16, 1 << 20}, Data: "rmat", Long: true},
		ladder.Case{Size: ladder.Size{1 << 16, 1 << 16, 1 << 20}, Data: "huge rows", Long: true})
}

var cooCases = func() (all []ladder.Case) {
	for _, s := range []ladder.Size{{0, 0, 0}, {1, 1, 1}, {300, 7, 0}, {257, 31, 2047}, {300, 300, 2049}} {
		all = append(all, ladder.Case{Size: s})
	}
	for _, d := range matrices {
		all = append(all, ladder.Case{Size: ladder.Size{521, 497, 6007}, Data: d.name})
	}
	return append(all, ladder.Case{Size: ladder.Size{521, 497, 6007}, Data: "shuffled"}, ladder.Case{Size: ladder.Size{601, 601, 5003}, Start: 1})
}()
