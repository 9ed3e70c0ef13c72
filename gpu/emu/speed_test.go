package emu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu/simd"
)

// workload is a launch whose time is stated in the documentation.
type workload struct {
	name        string
	file, entry string
	grid, block gpu.Dim
	in          []int // elements of each input, then of the output
	args        func(b []gpu.Buffer) []any
	want        func(in [][]float32, at int) float64 // an element of the output
}

const elements = 25_600_000

var workloads = []workload{
	{"sum_interleaved", "testdata/workloads.sm_75.ptx", "sum_interleaved", gpu.Dim{X: elements / 256}, gpu.Dim{X: 256},
		[]int{elements, elements / 256}, sumArguments, blockSum(256)},
	{"reduce_first_add_shuffle", "testdata/reduce.ptx", "reduce_first_add_shuffle", gpu.Dim{X: elements / 512}, gpu.Dim{X: 256},
		[]int{elements, elements / 512}, sumArguments, blockSum(512)},
	product(512), product(1024),
	{"transpose_1024", "testdata/transpose.ptx", "transpose_a_tile", gpu.Dim{X: 32, Y: 32}, gpu.Dim{X: 32, Y: 8},
		[]int{1 << 20, 1 << 20}, func(b []gpu.Buffer) []any { return []any{b[0], b[1], uint32(1024)} },
		func(in [][]float32, at int) float64 { return float64(in[0][at%1024*1024+at/1024]) }},
	{"add", "testdata/workloads.sm_75.ptx", "add", gpu.Dim{X: 1 << 12}, gpu.Dim{X: 256},
		[]int{1 << 20, 1 << 20, 1 << 20}, func(b []gpu.Buffer) []any { return []any{b[0], b[1], b[2], uint32(1 << 20)} },
		func(in [][]float32, at int) float64 { return float64(in[0][at]) + float64(in[1][at]) }},
}

func sumArguments(b []gpu.Buffer) []any { return []any{b[0], b[1], uint32(elements)} }

func blockSum(n int) func(in [][]float32, at int) float64 {
	return func(in [][]float32, at int) (sum float64) {
		for _, v := range in[0][at*n : (at+1)*n] {
			sum += float64(v)
		}
		return sum
	}
}

// product is that of square matrices by tiles of 128 x 128, 8 x 8 a thread.
func product(n int) workload {
	return workload{fmt.Sprintf("product_tile_%d", n), "testdata/workloads.sm_75.ptx", "product_tile", gpu.Dim{X: n / 128 * (n / 128)}, gpu.Dim{X: 256},
		[]int{n * n, n * n, n * n}, func(b []gpu.Buffer) []any {
			return []any{b[0], b[1], b[2], uint32(n)}
		}, func(in [][]float32, at int) (sum float64) {
			for k := range n {
				sum += float64(in[0][at/n*n+k]) * float64(in[1][k*n+at%n])
			}
			return sum
		}}
}

// BenchmarkWorkloads prints the documented figures: the time of a launch with
// counters, the least of all, and the least processor time of all workers, with
// each set of vectors.
func BenchmarkWorkloads(b *testing.B) {
	for _, w := range workloads {
		for v := simd.Best; v >= simd.NoVectors; v = v.Less() {
			b.Run(fmt.Sprintf("%s/%v", w.name, v), func(b *testing.B) { w.run(b, v, gpu.CheckDefault) })
		}
	}
}

// BenchmarkRaces is the cost of the search for races.
func BenchmarkRaces(b *testing.B) {
	for _, w := range workloads {
		b.Run(w.name+"/off", func(b *testing.B) { w.run(b, simd.Best, gpu.CheckDefault) })
		b.Run(w.name+"/on", func(b *testing.B) { w.run(b, simd.Best, gpu.CheckAll) })
		b.Run(w.name+"/blocks", func(b *testing.B) { w.run(b, simd.Best, gpu.CheckDefault|gpu.CheckBlockRaces) })
	}
}

func (w workload) run(b *testing.B, v simd.Vectors, checks gpu.Checks) {
	d, e := w.load(b)
	d.LimitVectors(v)
	random := rand.New(rand.NewPCG(1, 2))
	var in [][]float32
	var buffers []gpu.Buffer
	for i, n := range w.in {
		x, err := d.Alloc(gpu.Float32, n)
		if err != nil {
			b.Fatal(err)
		}
		if buffers = append(buffers, x); i+1 == len(w.in) {
			break
		}
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(random.IntN(8))
		}
		if err := x.Upload(data); err != nil {
			b.Fatal(err)
		}
		in = append(in, data)
	}
	var c gpu.Counters
	l := gpu.Launch{Entry: e, Grid: w.grid, Block: w.block, Args: w.args(buffers), Counters: &c, Checks: checks}
	least, leastTime := time.Duration(1<<63-1), time.Duration(1<<63-1) // other programs make a launch longer, never shorter
	for b.Loop() {
		start, startTime := processorTime(), time.Now()
		if err := d.Launch(l); err != nil {
			b.Fatal(err)
		}
		least, leastTime = min(least, processorTime()-start), min(leastTime, time.Since(startTime))
	}
	b.ReportMetric(float64(leastTime.Microseconds())/1e3, "least-ms/op")
	b.ReportMetric(float64(least.Microseconds())/1e3, "least-cpu-ms/op")
	b.ReportMetric(float64(c.WarpInstructions)/1e6/least.Seconds(), "Mwarpinstr/cpu-s")
	w.verify(b, in, buffers[len(buffers)-1])
}

func (w workload) load(b *testing.B) (*Device, gpu.Entry) {
	text, err := os.ReadFile(w.file)
	if err != nil {
		b.Fatal(err)
	}
	d, err := Open("")
	if err != nil {
		b.Fatal(err)
	}
	m, err := d.Load(filepath.Base(w.file), string(text))
	if err != nil {
		b.Fatal(err)
	}
	e, err := m.Entry(w.entry)
	if err != nil {
		b.Fatal(err)
	}
	return d.(*Device), e
}

// verify compares elements of the output, spread over it, with the reference: the inputs
// are small whole numbers, so that sums are exact.
func (w workload) verify(b *testing.B, in [][]float32, y gpu.Buffer) {
	out := make([]float32, y.Len())
	if err := y.Download(out); err != nil {
		b.Fatal(err)
	}
	for at := 0; at < len(out); at += 1 + len(out)/1009 {
		if want := w.want(in, at); float64(out[at]) != want {
			b.Fatalf("element %d is %v, expected %v", at, out[at], want)
		}
	}
}

// processorTime is the time that the process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
