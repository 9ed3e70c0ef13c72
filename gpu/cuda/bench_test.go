package cuda

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/gpu/emu"
)

// openBench is both for benchmarks: the GPU if there is one, else the fake worker,
// whose figures are the cost of the pipe only.
func openBench(b *testing.B) (*Device, gpu.Module) {
	b.Helper()
	d, err := openFake(b, "emulator")
	if gpuWanted() {
		d.Close()
		d, err = openGPU(b)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	m, err := d.Load("faults.ptx", faultsPTX)
	if err != nil {
		b.Fatal(err)
	}
	return d, m
}

// BenchmarkHost moves host memory to the device and back; GB/s is of the median,
// to be compared with what pinned memory of one process reaches.
func BenchmarkHost(b *testing.B) {
	d, _ := openBench(b)
	const n = 64 << 20
	h, err := d.AllocHost(gpu.Float32, n)
	if err != nil {
		b.Fatal(err)
	}
	for i, s := 0, h.Slice().([]float32); i < n; i++ {
		s[i] = float32(i % 1021)
	}
	x, err := d.Alloc(gpu.Float32, n)
	if err != nil {
		b.Fatal(err)
	}
	for name, pair := range map[string][2]gpu.Memory{"up": {x, h}, "down": {h, x}} {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := d.Copy(pair[0], pair[1]); err != nil {
					b.Fatal(err)
				}
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(4*n/times[len(times)/2].Seconds()/1e9, "GB/s")
		})
	}
}

// BenchmarkSlice moves a plain slice to the device and back.
func BenchmarkSlice(b *testing.B) {
	d, _ := openBench(b)
	for _, n := range []int{1, 64 << 20} {
		x, err := d.Alloc(gpu.Float32, n)
		if err != nil {
			b.Fatal(err)
		}
		data := make([]float32, n)
		for name, move := range map[string]func(any) error{"up": x.Upload, "down": x.Download} {
			b.Run(fmt.Sprint(name, n), func(b *testing.B) {
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					if err := move(data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkLaunch compares 10 000 launches through the pipe with the worker's
// own loop over as many, with their memory copied for a replay, as it is unless
// that is switched off, and without.
func BenchmarkLaunch(b *testing.B) {
	d, m := openBench(b)
	for _, c := range []struct {
		entry  string
		blocks int
		bytes  int
	}{{"nothing", 1, 0}, {"add", 1, 4}, {"add", 1, 1 << 20}, {"nothing", 1056, 0}} {
		e, err := m.Entry(c.entry)
		if err != nil {
			b.Fatal(err)
		}
		l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: c.blocks}, Block: gpu.Dim{X: 32}}
		if c.bytes > 0 {
			x, err := d.Alloc(gpu.Uint32, c.bytes/4)
			if err != nil {
				b.Fatal(err)
			}
			l.Args = []any{x}
			if err := d.Zero(x); err != nil {
				b.Fatal(err)
			}
		}
		for _, replay := range []string{"on", "off"} {
			d.config.Emulator = nil
			if replay == "on" {
				d.config.Emulator = emu.OpenAs
			}
			b.Run(fmt.Sprintf("%s/blocks=%d/bytes=%d/replay=%s", c.entry, c.blocks, c.bytes, replay), func(b *testing.B) {
				launchRatio(b, d, l)
			})
		}
	}
}

// launchRatio reports the medians of a launch through the pipe and of one in
// the worker's own loop.
func launchRatio(b *testing.B, d *Device, l gpu.Launch) {
	const n = 10_000
	var pipe, loop []time.Duration
	for b.Loop() {
		start := time.Now()
		for range n {
			if err := d.Launch(l); err != nil {
				b.Fatal(err)
			}
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
		pipe = append(pipe, time.Since(start))
		times, err := d.Time(gpu.Timing{Repeats: 1}, slices.Repeat([]gpu.Launch{l}, n)...)
		if err != nil {
			b.Fatal(err)
		}
		loop = append(loop, times[0])
	}
	slices.Sort(pipe)
	slices.Sort(loop)
	through, own := float64(pipe[len(pipe)/2])/n, float64(loop[len(loop)/2])/n
	b.ReportMetric(through, "ns/launch")
	b.ReportMetric(own, "ns/own-loop")
	b.ReportMetric(through/own, "ratio")
}

// BenchmarkAlloc compares allocation in the order of a stream with allocation
// at once: each buffer is cleared and freed, and every tenth time waited for.
func BenchmarkAlloc(b *testing.B) {
	d, _ := openBench(b)
	for _, bytes := range []int{4 << 10, 64 << 20} {
		for name, way := range map[string]struct {
			alloc func(gpu.Type, int) (gpu.Buffer, error)
			free  func(gpu.Buffer) error
		}{
			"alloc": {d.Alloc, gpu.Buffer.Free},
			"async": {d.AllocAsync, d.FreeAsync},
		} {
			b.Run(fmt.Sprintf("%s/bytes=%d", name, bytes), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					x, err := way.alloc(gpu.Uint8, bytes)
					if err != nil {
						b.Fatal(err)
					}
					if err := errors.Join(d.Zero(x), way.free(x)); err != nil {
						b.Fatal(err)
					}
					if i%10 != 0 {
						continue
					}
					if err := d.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRound is a launch and a Sync.
func BenchmarkRound(b *testing.B) {
	d, m := openBench(b)
	e, err := m.Entry("nothing")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}}); err != nil {
			b.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchGroup is two ranks, on GPUs if there are two, else on fake workers.
func benchGroup(b *testing.B) []collective.Communicator {
	b.Helper()
	b.Setenv(fakeNCCLVariable, b.TempDir())
	open := func(n int) (*Device, error) { return openNumber(b, "emulator", n) }
	if gpuWanted() {
		if Count() < 2 {
			b.Skipf("needs two GPUs, there is %d", Count())
		}
		open = func(n int) (*Device, error) { return Open(Config{Number: n}) }
	} else {
		b.Setenv(NCCLVariable, "/fake/libnccl.so.2")
	}
	all := groupOf(b, longTime, 2, open)
	b.Log(all[0].Transport())
	return all
}

// BenchmarkCollective is an all-reduce of 1 KiB by two ranks, awaited, or sixteen in a row of
// which the last is: on GPUs by NCCL, on fake workers by files, whose cost is in the figure.
func BenchmarkCollective(b *testing.B) {
	all := benchGroup(b)
	var calls []collective.Call
	for _, c := range all {
		x := on(b, c, gpu.Float32, make([]float32, 256))
		calls = append(calls, collective.Call{Kind: collective.AllReduce, In: x, Out: x, Op: collective.Sum})
	}
	for name, row := range map[string]int{"awaited": 1, "sixteen in a row": 16} {
		b.Run(name, func(b *testing.B) {
			if err := errors.Join(each(all, func(c collective.Communicator) error {
				for range b.N {
					if err := c.Run(slices.Repeat(calls[c.Rank():c.Rank()+1], row)...); err != nil {
						return err
					}
				}
				return nil
			})...); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N*row)/1000, "us/collective")
		})
	}
}

// BenchmarkCollectiveAfterWork is what an all-reduce of 1 KiB by two ranks adds to launches
// before it on each of them: the median time with it, awaited at the end, less that without.
func BenchmarkCollectiveAfterWork(b *testing.B) {
	all := benchGroup(b)
	var calls []collective.Call
	var adds []gpu.Launch
	for _, c := range all {
		x := on(b, c, gpu.Float32, make([]float32, 256))
		calls = append(calls, collective.Call{Kind: collective.AllReduce, In: x, Out: x, Op: collective.Sum})
		adds = append(adds, launchOn(b, c, "add", on(b, c, gpu.Uint32, []uint32{0})))
	}
	for _, launches := range []int{1, 300, 3000} {
		b.Run(fmt.Sprintf("launches=%d", launches), func(b *testing.B) {
			var alone, both []time.Duration
			for b.Loop() {
				for _, times := range []*[]time.Duration{&alone, &both} {
					start := time.Now()
					if err := errors.Join(each(all, func(c collective.Communicator) error {
						for range launches {
							if err := c.Device().Launch(adds[c.Rank()]); err != nil {
								return err
							}
						}
						if times == &both {
							return c.Run(calls[c.Rank()])
						}
						return c.Device().Sync()
					})...); err != nil {
						b.Fatal(err)
					}
					*times = append(*times, time.Since(start))
				}
			}
			slices.Sort(alone)
			slices.Sort(both)
			without, with := alone[len(alone)/2], both[len(both)/2]
			b.ReportMetric(float64(without)/1000, "us/launches")
			b.ReportMetric(float64(with-without)/1000, "us/added")
		})
	}
}
