package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

const neighbours = `.version 8.0
.target sm_75
.address_size 64
.visible .entry neighbours(.param .u64 y, .param .u32 n)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .pred %p;
	.shared .align 4 .b8 s[256];
	ld.param.u64 %rd1, [y];
	ld.param.u32 %r1, [n];
	red.global.add.u32 [%rd1+256], 1;
	mov.u32 %r2, %tid.x;
	shl.b32 %r3, %r2, 2;
	mov.u32 %r4, s;
	add.u32 %r3, %r3, %r4;
	st.shared.u32 [%r3], %r2;
	bar.sync 0;
	st.shared.u32 [%r3], %r1;
	xor.b32 %r4, %r3, 128;
	ld.shared.u32 %r5, [%r4];
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r5;
	ret;
}
`

// open opens an emulator with an entry that races after it has counted its
// threads in element 64 of a buffer, and the buffer.
func open(t *testing.T) (gpu.Device, gpu.Launch, gpu.Buffer) {
	t.Helper()
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	m, err := dev.Load("neighbours.ptx", neighbours)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("neighbours")
	if err != nil {
		t.Fatal(err)
	}
	y, err := dev.Alloc(gpu.Uint32, 65)
	if err != nil {
		t.Fatal(err)
	}
	return dev, gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{y, uint32(64)}}, y
}

func text(tables []Table) string {
	var b strings.Builder
	for _, t := range tables {
		columns, rows := t.Table()
		for _, row := range append([][]string{columns}, rows...) {
			b.WriteString(strings.Join(row, "|") + "\n")
		}
		b.WriteString(strings.Join(t.Notes(), "\n"))
	}
	return b.String()
}

// Without a GPU a race is a finding for every check, and the launch continues, as
// under the tool; its own counters are filled.
func TestSanitizeOnTheEmulator(t *testing.T) {
	dev, l, y := open(t)
	for _, check := range []string{"racecheck", "memcheck"} {
		r, err := Sanitize(check)
		if err != nil {
			t.Fatal(err)
		}
		var c gpu.Counters
		l.Counters = &c
		if err := y.Upload(make([]uint32, 65)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := dev.Launch(l); err != nil {
				t.Fatalf("%s: %v", check, err)
			}
		}
		tables, err := r.End()
		if err != nil {
			t.Fatal(err)
		}
		got := text(tables)
		if !strings.Contains(got, "race: ") || r.Findings() != 1 || !strings.Contains(got, "2 launches") || !strings.Contains(got, "no GPU") {
			t.Errorf("%s shows\n%s", check, got)
		}
		if c.GlobalStore.Requests != 2 {
			t.Errorf("%s: the launch's own counters have %d stores, expected 2", check, c.GlobalStore.Requests)
		}
		got65 := make([]uint32, 65)
		if err := y.Download(got65); err != nil || got65[64] != 128 {
			t.Errorf("%s: %d threads ran in two launches, %v, expected 128: a launch that was checked runs once", check, got65[64], err)
		}
	}
	if _, err := Sanitize("leakcheck"); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "racecheck") {
		t.Errorf("%v, expected the checks that there are", err)
	}
}

// A fault that ends the launch is shown and returned.
func TestFaultOnTheEmulator(t *testing.T) {
	dev, l, y := open(t)
	if err := dev.Zero(y); err != nil {
		t.Fatal(err)
	}
	l.Block = gpu.Dim{X: 96}
	r, err := Sanitize("memcheck")
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Launch(l); !errors.Is(err, gpu.ErrOutOfBounds) {
		t.Errorf("%v, expected out of bounds", err)
	}
	tables, err := r.End()
	if err != nil || !strings.Contains(text(tables), "out of bounds") {
		t.Errorf("%v\n%s", err, text(tables))
	}
}

// A refused launch is shown as refused, also for an argument that no device can
// read.
func TestRefusedLaunch(t *testing.T) {
	dev, l, y := open(t)
	for what, args := range map[string][]any{
		"slice": {[]int{1}, uint32(64)}, "map": {map[int]int{}, uint32(64)}, "string": {"y", uint32(64)}, "int": {y, 64}, "pointer": {new(int), uint32(64)},
		"no entry": nil,
	} {
		r, err := Sanitize("memcheck")
		if err != nil {
			t.Fatal(err)
		}
		again := l
		if again.Args = args; args == nil {
			again.Entry = nil
		}
		if err := dev.Launch(again); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("%s: %v, expected it refused", what, err)
		}
		tables, err := r.End()
		if got := text(tables); err != nil || r.Findings() != 1 || !strings.Contains(got, "invalid argument") {
			t.Errorf("%s: %v, %d findings in\n%s", what, err, r.Findings(), got)
		}
	}
}

// The second launch of a shape has other data, and a fault that the first does not have.
func TestSanitizeLooksAtEveryLaunch(t *testing.T) {
	dev, l, y := open(t)
	if err := dev.Zero(y); err != nil {
		t.Fatal(err)
	}
	l.Source = &gpu.Source{Params: []string{"out", "n"}, Line: func(at string) string { return "text of " + at }}
	r, err := Sanitize("memcheck")
	if err != nil {
		t.Fatal(err)
	}
	if l.Checks = gpu.CheckFaults; dev.Launch(l) != nil {
		t.Fatal("the launch failed")
	}
	moved, err := dev.Alloc(gpu.Uint32, 64)
	if err != nil {
		t.Fatal(err)
	}
	l.Args = []any{moved, uint32(64)}
	if err := dev.Launch(l); !errors.Is(err, gpu.ErrOutOfBounds) {
		t.Errorf("%v, expected out of bounds", err)
	}
	tables, err := r.End()
	for _, want := range []string{"race: ", "text of neighbours.ptx:19", "out of bounds: ", "argument 0, out", "launch 2; text of neighbours.ptx:12", " in block (0,0,0)"} {
		if got := text(tables); err != nil || !strings.Contains(got, want) {
			t.Errorf("%v, no %q in\n%s", err, want, got)
		}
	}
}

func TestProfileOnTheEmulator(t *testing.T) {
	dev, l, y := open(t)
	if err := dev.Zero(y); err != nil {
		t.Fatal(err)
	}
	r, err := Profile([]string{"sm__warps_active.avg", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sanitize("memcheck"); err == nil || !strings.Contains(err.Error(), "another cell") {
		t.Errorf("two tools at once: %v", err)
	}
	if err := dev.Launch(l); err != nil {
		t.Fatal(err)
	}
	tables, err := r.End()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"neighbours (1,1,1) (64,1,1)|global store requests|2|-|-\n", "shared load wavefronts|2|2|1.00\n", "no GPU: ncu did not run",
		"sm__warps_active.avg|not counted", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum|2|"} {
		if !strings.Contains(text(tables), want) {
			t.Errorf("no %q in\n%s", want, text(tables))
		}
	}
	if err := dev.Launch(l); err != nil { // observed no more
		t.Error(err)
	}
	if _, err := Profile([]string{"rm -rf"}, ""); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("a metric that is none: %v", err)
	}
}

// The report of ncu beside counters: equal, equal but for arbitration, and not.
func TestCompare(t *testing.T) {
	report := `==PROF== Connected to process 457
"ID","Kernel Name","Block Size","Grid Size","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum","l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum","sm__warps_active.avg"
"","","","","","sector","","","warp"
"0","f(const float *)","(32, 1, 1)","(4, 1, 1)","4","17","101","21","1.5"
`
	launches, units, err := readProfile(report)
	if err != nil || len(launches) != 1 {
		t.Fatal(launches, err)
	}
	x := &launch{entry: "f", grid: gpu.Dim{X: 4, Y: 1, Z: 1}, block: gpu.Dim{X: 32, Y: 1, Z: 1}, counted: true}
	x.counters.GlobalLoad.Requests, x.counters.GlobalLoad.Sectors = 4, 16
	x.counters.SharedLoad.Wavefronts, x.counters.SharedLoad.Conflicts = 100, 20
	if !launches[0].matches(x) {
		t.Error("the launch is not recognised")
	}
	var verdicts []string
	for _, row := range compare(x, &launches[0]) {
		verdicts = append(verdicts, row[4])
	}
	if got := strings.Join(verdicts, ", "); got != "equal, DIFFERENT, equal but for arbitration, equal but for arbitration" {
		t.Errorf("verdicts are %s", got)
	}
	p := &profiler{metrics: []string{"sm__warps_active.avg", "sm__none.sum"}}
	if got := p.others(x, &launches[0], units); got[0][2] != "1.5 warp" || got[1][2] != "not measured on this GPU" {
		t.Errorf("other metrics are %v", got)
	}
	for name, want := range map[string]bool{"launch__registers_per_thread": true, "sm__warps_active.avg.pct_of_peak_sustained_active": true,
		"device__attribute_l2s_count": false, "dram__cycles_active.max": false, "l1tex__f_wavefronts.sum.pct_of_peak_sustained_elapsed": false} {
		if measured().MatchString(name) != want {
			t.Errorf("%s is shown: %v, expected %v", name, !want, want)
		}
	}
	for text, want := range map[string]string{
		"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission": "administrators",
		"==ERROR== The application returned an error code (9).\n":        "error code (9)",
	} {
		if _, _, err := readProfile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

// Reports that compute-sanitizer 2025.3 wrote on an H200.
func TestReadFindings(t *testing.T) {
	read := func(name string) []finding {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return readFindings(string(text))
	}
	races := read("racecheck.txt")
	if len(races) != 5 || races[0] != (finding{what: "race (error)", at: "Read at reduce_mine step2.cu:10; Write at reduce_mine step2.cu:10", detail: "256 hazards", times: 1}) ||
		races[1].detail != "128 hazards; 64 hazards" || races[2].what != "race (warning)" || races[2].times != 3 {
		t.Errorf("found %+v", races)
	}
	unwritten := read("initcheck.txt")
	if len(unwritten) != 2 || unwritten[1] != (finding{what: "Uninitialized __global__ memory read of size 4 bytes", at: "plain tools.cu:16",
		by: "thread (96,0,0) in block (0,0,0)", detail: "Address 0x7fa6c8c63f80", times: 2}) {
		t.Errorf("found %+v", unwritten)
	}
}

// A report that ncu 2025.3 wrote on an H200, beside the emulator's counts of
// one of its kernels: 256 threads that store with a stride of 4 words.
func TestReadProfile(t *testing.T) {
	text, err := os.ReadFile("testdata/ncu.csv")
	if err != nil {
		t.Fatal(err)
	}
	launches, _, err := readProfile(string(text))
	if err != nil || len(launches) != 3 {
		t.Fatalf("%d launches, %v", len(launches), err)
	}
	x := &launch{entry: "strided", grid: gpu.Dim{X: 1, Y: 1, Z: 1}, block: gpu.Dim{X: 256, Y: 1, Z: 1}, counted: true}
	x.counters.GlobalStore = gpu.GlobalAccess{Requests: 8, Sectors: 32}
	x.counters.SharedLoad = gpu.SharedAccess{Wavefronts: 24, Conflicts: 8}
	x.counters.SharedStore = gpu.SharedAccess{Wavefronts: 32, Conflicts: 24}
	if !launches[2].matches(x) || launches[1].matches(x) {
		t.Error("the launch is not recognised")
	}
	rows := compare(x, &launches[2])
	for _, row := range rows {
		if row[4] != "equal" {
			t.Errorf("%v", row)
		}
	}
	if len(rows) != 6 {
		t.Errorf("%d rows, expected 6", len(rows))
	}
}

// A tool that is not there is named, with the remedy.
func TestFind(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	home := t.TempDir()
	t.Setenv("CUDA_HOME", home)
	if _, err := find("no-such-tool", "part"); !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "CUDA toolkit") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(home, "bin", "no-such-tool")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := find("no-such-tool", "part"); got != path {
		t.Errorf("%s, %v, expected %s", got, err, path)
	}
}
