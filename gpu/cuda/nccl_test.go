package cuda

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/gpu/emu"
)

// longTime is a deadline that no test waits for.
const longTime = time.Hour

// fakeGroup is a group of fake workers that misbehave each in its way.
func fakeGroup(t *testing.T, deadline time.Duration, hows ...string) []collective.Communicator {
	t.Helper()
	t.Setenv(fakeNCCLVariable, t.TempDir())
	t.Setenv(NCCLVariable, "/fake/libnccl.so.2") // finding one asks Python
	return groupOf(t, deadline, len(hows), func(n int) (*Device, error) { return openNumber(t, hows[n], n) })
}

func groupOf(t testing.TB, deadline time.Duration, ranks int, open func(number int) (*Device, error)) []collective.Communicator {
	t.Helper()
	var devices []gpu.Device
	for n := range ranks {
		d, err := open(n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		devices = append(devices, d)
	}
	all, err := collective.New(deadline, devices...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Cleanup(func() { c.Close() })
	}
	return all
}

// gpuGroup is a group of all GPUs, or the test is skipped.
func gpuGroup(t *testing.T, deadline time.Duration) []collective.Communicator {
	t.Helper()
	if needGPU(t); Count() < 2 {
		t.Skipf("needs two GPUs, there is %d", Count())
	}
	all := groupOf(t, deadline, Count(), func(n int) (*Device, error) { return Open(Config{Number: n}) })
	t.Log(all[0].Transport())
	if !strings.HasPrefix(all[0].Transport(), "NCCL") {
		t.Fatalf("the transport is %s, expected NCCL", all[0].Transport())
	}
	return all
}

// each calls f for every rank in a goroutine of its own, and returns their errors.
func each(all []collective.Communicator, f func(c collective.Communicator) error) []error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { errs[i] = f(c) })
	}
	wg.Wait()
	return errs
}

// on is a buffer of a rank.
func on(t testing.TB, c collective.Communicator, typ gpu.Type, values any) gpu.Buffer {
	t.Helper()
	b, err := c.Device().Alloc(typ, reflect.ValueOf(values).Len())
	if err == nil {
		err = b.Upload(values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// onAll is a buffer of one float32 on each rank: its number.
func onAll(t *testing.T, all []collective.Communicator) (buffers []gpu.Buffer) {
	t.Helper()
	for _, c := range all {
		buffers = append(buffers, on(t, c, gpu.Float32, []float32{float32(c.Rank())}))
	}
	return buffers
}

// random fills a slice with numbers that any order of additions adds up exactly.
func random(typ gpu.Type, n int, from *rand.Rand) any {
	values := gpu.NewSlice(typ, n)
	v := reflect.ValueOf(values)
	for i := range n {
		switch x := from.IntN(8); typ {
		case gpu.Float32, gpu.Float64:
			v.Index(i).SetFloat(float64(x))
		case gpu.Float16:
			v.Index(i).SetUint([]uint64{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700}[x])
		case gpu.BFloat16:
			v.Index(i).SetUint([]uint64{0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0}[x])
		case gpu.Int32, gpu.Int64, gpu.Int8, gpu.Int16:
			v.Index(i).SetInt(int64(x))
		default:
			v.Index(i).SetUint(uint64(x))
		}
	}
	return values
}

// poison is what a buffer holds before a collective: no result.
func poison(typ gpu.Type, n int) any {
	values := gpu.NewSlice(typ, n)
	for i := range n {
		v := reflect.ValueOf(values).Index(i)
		switch {
		case v.CanFloat():
			v.SetFloat(-77)
		case v.CanInt():
			v.SetInt(-77)
		default:
			v.SetUint(0x42)
		}
	}
	return values
}

// inMemory is a group of so many emulators.
func inMemory(t *testing.T, ranks int) []collective.Communicator {
	t.Helper()
	var emulators []gpu.Device
	for range ranks {
		d, err := emu.Open("")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		emulators = append(emulators, d)
	}
	all, err := collective.InMemory(longTime, emulators...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// agree checks collectives against those of emulators in memory, bit by bit.
func agree(t *testing.T, all []collective.Communicator, sizes []int, types ...gpu.Type) {
	t.Helper()
	reference := inMemory(t, len(all))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	from := rand.New(rand.NewPCG(seed, 0))
	n := len(all)
	for _, typ := range types {
		for _, size := range sizes {
			for _, c := range []collective.Call{{Kind: collective.AllReduce, Op: collective.Sum}, {Kind: collective.AllReduce, Op: collective.Max}, {Kind: collective.AllReduce, Op: collective.Min},
				{Kind: collective.ReduceScatter, Op: collective.Sum}, {Kind: collective.ReduceScatter, Op: collective.Max}, {Kind: collective.Broadcast, Root: n - 1}, {Kind: collective.Broadcast}} {
				got, want := make([]gpu.Buffer, n), make([]gpu.Buffer, n)
				inputs := make([]any, n)
				for i := range inputs {
					inputs[i] = random(typ, n*size, from)
				}
				run := func(group []collective.Communicator, results []gpu.Buffer) {
					t.Helper()
					ins, outs := make([]gpu.Buffer, n), results
					for i, r := range group {
						ins[i] = on(t, r, typ, inputs[i])
						switch c.Kind {
						case collective.Broadcast:
							outs[i] = ins[i]
						case collective.ReduceScatter:
							outs[i] = on(t, r, typ, poison(typ, size))
						default:
							outs[i] = on(t, r, typ, poison(typ, n*size))
						}
					}
					if err := errors.Join(each(group, func(r collective.Communicator) error {
						call := c
						call.In, call.Out = ins[r.Rank()], outs[r.Rank()]
						_, err := r.Time(gpu.Timing{Repeats: 1}, call)
						return err
					})...); err != nil {
						t.Fatalf("%v of %d %v: %v", c.Kind, size, typ, err)
					}
					if c.Kind != collective.Broadcast {
						for i := range ins {
							if left := gpu.NewSlice(typ, n*size); ins[i].Download(left) != nil || !reflect.DeepEqual(left, inputs[i]) {
								t.Errorf("%v of %d %v: the input of rank %d has changed", c.Kind, size, typ, i)
							}
						}
					}
				}
				run(all, got)
				run(reference, want)
				for i := range got {
					a, b := gpu.NewSlice(typ, got[i].Len()), gpu.NewSlice(typ, want[i].Len())
					if err := errors.Join(got[i].Download(a), want[i].Download(b)); err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(a, b) {
						t.Errorf("%v %v of %d %v: rank %d differs from the reference", c.Kind, c.Op, size, typ, i)
					}
					got[i].Free()
				}
			}
		}
	}
}

// Collectives of GPUs, and of the fake, give the bits of those in memory.
func TestCollectives(t *testing.T) {
	t.Run("fake", func(t *testing.T) {
		all := fakeGroup(t, longTime, "emulator", "emulator", "emulator")
		if want := "NCCL 2.27.5"; all[2].Transport() != want {
			t.Fatalf("the transport is %q, expected %q", all[2].Transport(), want)
		}
		agree(t, all, []int{0, 1, 33}, gpu.Float32, gpu.Float64, gpu.Int32, gpu.Uint64)
		agree(t, all, []int{5}, gpu.Int16) // that NCCL does not know
	})
	t.Run("GPU", func(t *testing.T) {
		all := gpuGroup(t, longTime)
		agree(t, all, []int{1 << 20}, gpu.Float32)
		agree(t, all, []int{0, 1, 33, 1<<16 + 1}, gpu.Float32, gpu.Float64, gpu.Float16, gpu.BFloat16, gpu.Int32, gpu.Uint64, gpu.Int8, gpu.Uint8, gpu.Uint32, gpu.Int64, gpu.Uint16)
	})
}

// The ranks are made of the host's memory where NCCL is not, with the reason in one line.
func TestTransports(t *testing.T) {
	for name, c := range map[string]struct {
		hows []string
		nccl bool
		want []string
	}{
		"no library":  {[]string{"emulator", "emulator"}, false, []string{"the host's memory", "libnccl.so.2", "pip install nvidia-nccl", NCCLVariable}},
		"versions":    {[]string{"emulator", "newer NCCL"}, true, []string{"the host's memory", "NCCL 2.27.5, rank 1 NCCL 2.27.6"}},
		"one rank":    {[]string{"emulator"}, true, []string{"the host's memory: there is one rank"}},
		"not leaving": {[]string{"emulator", "neither joins nor stops"}, true, []string{"the host's memory", "rank 1", "unhandled system error; gpu: closed: NCCL: leave", "the worker was killed"}},
		"not joining": {[]string{"emulator", "does not join"}, true, []string{"the host's memory", "rank 1", "unhandled system error"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ""
			if c.nccl {
				dir = t.TempDir()
			}
			t.Setenv(fakeNCCLVariable, dir)
			t.Setenv(NCCLVariable, "/fake/libnccl.so.2")
			all := groupOf(t, longTime, len(c.hows), func(n int) (*Device, error) { return openNumber(t, c.hows[n], n) })
			says(t, name, errors.New(all[0].Transport()), c.want...)
			agree(t, all, []int{3}, gpu.Float32)
		})
	}
	t.Run("an emulator", func(t *testing.T) {
		t.Setenv(fakeNCCLVariable, t.TempDir())
		t.Setenv(NCCLVariable, "/fake/libnccl.so.2")
		d, err := openFake(t, "emulator")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		e, err := emu.Open("")
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		all, err := collective.New(longTime, d, e)
		if err != nil {
			t.Fatal(err)
		}
		says(t, "an emulator", errors.New(all[1].Transport()), "rank 1 is no GPU")
	})
}

// A library is looked for in the named folder alone, else in the usual ones and by the loader.
func TestNCCLPaths(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "nvidia/nccl/lib/libnccl.so.2")
	if err := errors.Join(os.MkdirAll(filepath.Dir(library), 0o755), os.WriteFile(library, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string][]string{dir: {library, filepath.Join(dir, "libnccl.so.2")}, library: {library}} {
		t.Setenv(NCCLVariable, named)
		if got := NCCLPaths(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, expected %v", named, got, want)
		}
	}
	t.Setenv(NCCLVariable, "")
	t.Setenv("CUDA_HOME", dir)
	got := NCCLPaths()
	if !strings.Contains(strings.Join(got, " "), library) || got[len(got)-1] != "libnccl.so.2" {
		t.Errorf("%v, expected %s, and the loader's at the end", got, library)
	}
}

// A worker inherits the switch of NVLink's multicast, and has it off where it is not set.
func TestMulticastIsOff(t *testing.T) {
	for set, want := range map[string]string{"": "0", "0": "0", "1": "1"} {
		t.Run("set to "+set, func(t *testing.T) {
			t.Setenv(nvlsVariable, set)
			if set == "" {
				os.Unsetenv(nvlsVariable) // t.Setenv restores it
			}
			d, err := openFake(t, "emulator")
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			got := ""
			for _, e := range d.link.process.Env {
				if name, value, _ := strings.Cut(e, "="); name == nvlsVariable {
					got = value
				}
			}
			if got != want {
				t.Errorf("the worker has %q, expected %q", got, want)
			}
		})
	}
}
