package programs

import (
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/emu"
	"warpbook/gpu/emu/simd"
)

var (
	update  = flag.Bool("update", false, "write testdata from the device that WARPBOOK_DEVICE names")
	save    = flag.String("save", "", "write every result to this file")
	against = flag.String("against", "", "compare every result with those that -save wrote, to look into a difference")
)

// TestPrograms compares the results of every program with those of an H200 or H100, as the
// golden file says.
func TestPrograms(t *testing.T) {
	if *update || *save != "" {
		record(t)
		return
	}
	golden := readGolden(t)
	if n := len(All()); len(golden) != n {
		t.Fatalf("%d programs, and golden results of %d: run the test with -update on an H100 or H200", n, len(golden))
	}
	var all map[string][]uint64
	if *against != "" {
		all = readResults(t, *against)
	}
	for name, d := range devices(t) {
		t.Run(name, func(t *testing.T) {
			for _, p := range All() {
				got, err := run(d, &p)
				if err != nil {
					t.Errorf("%s: %v", p.Name, err)
					continue
				}
				compare(t, &p, got, golden[p.Name], all[p.Name])
			}
		})
	}
}

// devices are the emulator with each set of vector instructions, with -short only the
// best, or the GPU if WARPBOOK_DEVICE names one.
func devices(t *testing.T) map[string]gpu.Device {
	if name := os.Getenv(device.Variable); strings.HasPrefix(name, "cuda") {
		return map[string]gpu.Device{name: open(t)}
	}
	all := map[string]gpu.Device{}
	for _, vectors := range []simd.Vectors{simd.AVX512, simd.AVX2, simd.NoVectors} {
		if testing.Short() && len(all) > 0 {
			break
		}
		d, err := emu.Open("h200")
		if err != nil {
			t.Fatal(err)
		}
		d.(*emu.Device).LimitVectors(vectors)
		all[vectors.String()] = d
	}
	return all
}

// run returns the results of a program.
func run(d gpu.Device, p *Program) ([]uint64, error) {
	m, err := d.Load(p.Name+".ptx", p.Text)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	e, err := m.Entry("run")
	if err != nil {
		return nil, err
	}
	in, err := d.Alloc(gpu.Uint64, len(p.In))
	if err != nil {
		return nil, err
	}
	defer in.Free()
	if err := in.Upload(p.In); err != nil {
		return nil, err
	}
	results := make([]uint64, len(p.Rows)*p.Size())
	out, err := d.Alloc(gpu.Uint64, len(results))
	if err != nil {
		return nil, err
	}
	defer out.Free()
	l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: p.Blocks}, Block: gpu.Dim{X: p.Threads}, Args: []any{out, in}, Zero: []gpu.Buffer{out}}
	if p.Texels != nil {
		o, free, err := p.Texels.object(d)
		if err != nil {
			return nil, err
		}
		defer free()
		l.Args = append(l.Args, o)
	}
	if err := d.Launch(l); err != nil {
		return nil, err
	}
	if err := d.Sync(); err != nil {
		return nil, err
	}
	return results, out.Download(results)
}

// row is the results of one row.
func row(results []uint64, p *Program, i int) []uint64 {
	return results[i*p.Size() : (i+1)*p.Size()]
}

// sum is the checksum of values.
func sum(values []uint64) uint32 {
	h := crc32.NewIEEE()
	for _, v := range values {
		fmt.Fprintf(h, "%x ", v)
	}
	return h.Sum32()
}

// compare reports the first rows that differ, and, if all results are known, the
// differing values.
func compare(t *testing.T, p *Program, got []uint64, golden *results, all []uint64) {
	t.Helper()
	if golden.text != crc32.ChecksumIEEE([]byte(p.Text)) || len(golden.rows) != len(p.Rows) {
		t.Errorf("%s is another program than the one that ran on the GPU: run the test with -update there", p.Name)
		return
	}
	if p.Approximate {
		return // see TestApproximate
	}
	for i := range p.Rows {
		if sum(row(got, p, i)) == golden.rows[i] {
			continue
		}
		t.Errorf("%s, row %d: %s: differs from the GPU", p.Name, i, p.Rows[i])
		if all != nil {
			differences(t, p, i, row(got, p, i), row(all, p, i))
		}
	}
}

// differences lists the first values of a row that differ.
func differences(t *testing.T, p *Program, i int, got, want []uint64) {
	if slices.Equal(got, want) {
		return
	}
	const most = 4
	n := 0
	for k := range got {
		if got[k] == want[k] {
			continue
		}
		if n++; n <= most {
			var in []string
			for j := k; j < len(p.In) && len(in) < 3; j += p.Size() {
				in = append(in, fmt.Sprintf("%#x", p.In[j]))
			}
			t.Logf("  thread %d, operands %s: %#x, expected %#x", k, strings.Join(in, " "), got[k], want[k])
		}
	}
	t.Logf("  %d of %d threads", n, len(got))
}

// open opens the device that WARPBOOK_DEVICE names.
func open(t *testing.T) gpu.Device {
	t.Helper()
	d, err := device.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// record runs all programs and writes the files that the flags select.
func record(t *testing.T) {
	d := open(t)
	var lines []string
	all := map[string][]uint64{}
	for _, p := range All() {
		hang := time.AfterFunc(20*time.Second, d.Interrupt)
		got, err := run(d, &p)
		hang.Stop()
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			d = open(t) // a fault makes the context unusable
			continue
		}
		all[p.Name] = got
		line := fmt.Sprintf("%s\t%08x", p.Name, crc32.ChecksumIEEE([]byte(p.Text)))
		for i := range p.Rows {
			line += fmt.Sprintf(" %08x", sum(row(got, &p, i)))
		}
		lines = append(lines, line)
	}
	if *save != "" {
		writeResults(t, *save, all)
	}
	if *update {
		slices.Sort(lines)
		i := d.Info()
		writeGolden(t, fmt.Sprintf("# %v, %s", i, time.Now().UTC().Format(time.DateOnly)), lines)
		writeResults(t, approximateFile, approximate(all))
	}
}
