package ops

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// How testdata/profiles is made, where the GPU and ncu are, with a folder for what
// ncu prints; TestTakeProfiles/gemm_odd makes that one.
//
//	WARPBOOK_REPLAY=off WARPBOOK_PROFILES=FOLDER go test ./ops -run TestTakeProfiles
//
// Where the folder holds what ncu has printed, it is read and no GPU is needed.
const profilesVariable = "WARPBOOK_PROFILES"

// What nvidia-smi and ncu --version say there; the name of the GPU is ncu's.
const (
	profiledDriver = "driver 580.159.04"
	profiledTool   = "ncu 2025.3.1"
)

// profiledCase is a ladder at a size that NVIDIA's profiler has counted.
type profiledCase struct {
	name     string // of testdata/profiles/NAME.h200.json
	operator *Operator
	size     Size
}

// profiledCases leave a rest everywhere or, aligned, nowhere: then vectors are
// read whole. The sizes of mistakes are those at which the fewest are faults.
var profiledCases = []profiledCase{
	{"reduce", Reduce, Size{1<<20 + 3}},
	{"reduce_mistakes", ReduceMistakes, Size{1 << 17}},
	{"gemm_aligned", Gemm, Size{256, 384, 40}}, {"gemm_odd", Gemm, Size{321, 261, 77}},
	{"gemm_tf32_aligned", GemmTF32, Size{256, 384, 96}}, {"gemm_tf32_odd", GemmTF32, Size{321, 261, 77}},
	{"gemm_bf16_aligned", GemmBF16, Size{256, 384, 96}}, {"gemm_bf16_odd", GemmBF16, Size{321, 261, 77}},
	{"gemm_fp16_aligned", GemmFP16, Size{256, 384, 96}}, {"gemm_fp16_odd", GemmFP16, Size{321, 261, 77}},
	{"gemm_batched_aligned", GemmBatched, Size{3, 256, 256, 40}}, {"gemm_batched_odd", GemmBatched, Size{35, 65, 69, 33}},
	{"gemm_bias_relu_aligned", GemmBiasReLU, Size{256, 384, 40}}, {"gemm_bias_relu_odd", GemmBiasReLU, Size{321, 261, 77}},
}

func (c profiledCase) file() string { return "testdata/profiles/" + c.name + ".h200.json" }

// metrics are the columns of a profile and what is made of them.
var metrics = []struct{ of, metric string }{
	{"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
	{"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
	{"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
	{"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
	{"global_red_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
	{"global_red_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
	{"local_load_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"},
	{"local_store_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"},
	{"shared_load_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
	{"shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
	{"shared_store_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
	{"shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
	{"async_copies", "smsp__inst_executed_op_ldgsts_pred_on_any.sum"},
	{"matrix_loads", "smsp__inst_executed_op_ldsm_pred_on_any.sum"},
}

// opcodes is the metric that counts the instructions of machine code by warps,
// and counted are those that a profile keeps.
const opcodes = "sass__inst_executed_per_opcode"

var counted = regexp.MustCompile(`^(BAR|SHFL)$`)

// TestTakeProfiles profiles the cases, or reads what was profiled, and writes
// testdata/profiles.
func TestTakeProfiles(t *testing.T) {
	folder := os.Getenv(profilesVariable)
	if folder == "" {
		t.Skip("it needs a GPU and ncu, with " + profilesVariable + " naming a folder")
	}
	for _, c := range profiledCases {
		t.Run(c.name, func(t *testing.T) {
			launches := c.launches(t)
			file := filepath.Join(folder, c.name+".csv")
			if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
				c.profile(t, file, launches)
			}
			c.write(t, launches, readCounts(t, file))
		})
	}
}

// planned is a launch that is to be profiled.
type planned struct {
	variant, entry string
	module         ptxFile
	blocks         int
}

// launches are those of the variants that the emulator can count.
func (c profiledCase) launches(t *testing.T) (all []planned) {
	dev, err := device.Open("emu:h200")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() }) // of an emulator that nothing runs on
	b := newBench(t, dev, c.operator, 42, c.size...)
	var e Environment
	err = b.each("plan", nil, &e, func(r *run) error {
		if r.variant.Host != nil || strings.HasPrefix(b.expect(r.variant), checkFault) {
			return nil
		}
		source := r.source()
		file, err := pick(source, files(t, source), dev.Info())
		for _, l := range r.launches {
			g := l.Grid.Full()
			all = append(all, planned{r.variant.Name, l.Entry.Name(), file, g.X * g.Y * g.Z})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// profile runs the variants under ncu, each launch once.
func (c profiledCase) profile(t *testing.T, file string, launches []planned) {
	dev, err := device.Open("cuda")
	if err != nil {
		t.Fatal(err)
	}
	ncu, err := exec.LookPath("ncu")
	if err != nil {
		ncu = "/usr/local/cuda/bin/ncu"
	}
	names := []string{opcodes}
	for _, m := range metrics {
		names = append(names, m.metric)
	}
	d := dev.(interface {
		Observe(gpu.Observer)
		Under(...string) (func() error, error)
	})
	d.Observe(func(l gpu.Launch, run func(gpu.Launch) error) error { return run(l) })
	_, err = d.Under(ncu, "--csv", "--page", "raw", "--print-units", "base", "--print-metric-instances", "details",
		"--clock-control", "none", "--log-file", file, "--metrics", strings.Join(names, ","))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBench(dev, c.operator, 42, c.size...)
	if err != nil {
		t.Fatal(err)
	}
	var variants []string
	for _, l := range launches {
		if !slices.Contains(variants, l.variant) {
			variants = append(variants, l.variant)
		}
	}
	checkAll(t, b, "under ncu", variants...)
	if err := errors.Join(b.Close(), dev.Close()); err != nil { // the end lets ncu write
		t.Fatal(err)
	}
}

// readCounts reads what ncu has printed: its own lines stand between those of
// the table, of which names and units are the first.
func readCounts(t *testing.T, file string) (launches []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `"`) {
			table.WriteString(line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || len(rows) < 3 {
		t.Fatalf("%s: %d rows, %v, expected a table: %s", file, len(rows), err, text[:min(len(text), 300)])
	}
	for _, row := range rows[2:] {
		l := map[string]string{}
		for i, name := range rows[0] {
			l[name] = row[i]
		}
		launches = append(launches, l)
	}
	return launches
}

// write makes the profile of a case.
func (c profiledCase) write(t *testing.T, launches []planned, counts []map[string]string) {
	if len(counts) != len(launches) {
		t.Fatalf("ncu counted %d launches, expected %d", len(counts), len(launches))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "{\n \"device\": %q,\n \"tool\": %q,\n \"date\": %q,\n \"size\": %s,\n \"launches\": [\n",
		counts[0]["device__attribute_display_name"]+", "+profiledDriver, profiledTool, time.Now().Format(time.DateOnly), strings.ReplaceAll(fmt.Sprint([]int(c.size)), " ", ", "))
	for i, l := range launches {
		if name, _, _ := strings.Cut(counts[i]["Kernel Name"], "("); name != l.entry {
			t.Fatalf("launch %d is %s, expected %s", i, name, l.entry)
		}
		if i > 0 {
			out.WriteString(",\n")
		}
		out.WriteString("  " + l.line(t, counts[i]))
	}
	out.WriteString("\n ]\n}\n")
	if err := os.WriteFile(c.file(), []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// line is a launch as JSON.
func (l planned) line(t *testing.T, row map[string]string) string {
	counts := map[string]uint64{}
	var order []string
	for _, m := range metrics {
		n, err := strconv.ParseFloat(strings.ReplaceAll(row[m.metric], ",", ""), 64)
		if err != nil {
			t.Fatalf("%s of %s: %v", m.metric, l.entry, err)
		}
		if counts[m.of] += uint64(n); !slices.Contains(order, m.of) {
			order = append(order, m.of)
		}
	}
	line := fmt.Sprintf("{\"variant\": %q, \"entry\": %q, \"entry_sha256\": %q, \"blocks\": %d", l.variant, l.entry, EntryHash(l.module.text, l.entry), l.blocks)
	for _, name := range order {
		if counts[name] > 0 {
			line += fmt.Sprintf(", %q: %d", name, counts[name])
		}
	}
	instances, err := json.Marshal(instancesOf(row[opcodes]))
	if err != nil {
		t.Fatal(err)
	}
	if line += ", \"executed\": " + string(instances) + "}"; !json.Valid([]byte(line)) {
		t.Fatalf("%s is no JSON", line)
	}
	return line
}

var opcodeCount = regexp.MustCompile(`([A-Z][A-Z0-9_.]*)\W+?([\d,]*\d)(?:[^\d,.]|$)`)

// instancesOf reads the instances of a metric that are kept, by opcode.
func instancesOf(text string) map[string]uint64 {
	all := map[string]uint64{}
	for _, m := range opcodeCount.FindAllStringSubmatch(text, -1) {
		if counted.MatchString(m[1]) {
			n, _ := strconv.ParseUint(strings.ReplaceAll(m[2], ",", ""), 10, 64) // digits
			all[m[1]] += n
		}
	}
	return all
}

// The hash is of the code, not of where it stands.
func TestEntryHash(t *testing.T) {
	hash := func(text string) string {
		return EntryHash(text, "a")
	}
	const code = ".visible .entry a(\n)\n{\n\t.loc\t1 3 0\n\n\tadd.u32 %r1, %r2, 1;\n$L__BB3_1:\n\tbra $L__BB3_1;\n}\n"
	if hash(code) != hash(strings.NewReplacer("1 3 0", "1 9 4, function_name $L__info_string1, inlined_at 1 2 3", "BB3", "BB7", "\n\n", "\n").Replace(code)) {
		t.Error("it depends on lines or on other entries")
	}
	if hash(code) == hash(strings.Replace(code, ", 1;", ", 2;", 1)) {
		t.Error("it does not depend on the code")
	}
}
