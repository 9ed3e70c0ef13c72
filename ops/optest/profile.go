package optest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/device"
	"warpbook/gpu/tool"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
)

// How profiles are made, where the GPU and ncu are, with a folder for what ncu prints:
//
//	WARPBOOK_REPLAY=off WARPBOOK_PROFILES=FOLDER go test ./ops/gemm -run /profiles
//
// Where the folder holds what ncu has printed, it is read and no GPU is needed.
const profilesVariable = "WARPBOOK_PROFILES"

// What nvidia-smi and ncu --version say there; the name of the GPU is ncu's.
const (
	profiledDriver = "driver 580.159.04"
	profiledTool   = "ncu 2025.3.1"
)

// metrics maps the columns of a profile to its fields.
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

var counted = regexp.MustCompile(`^(BAR|SHFL|UCGABAR_WAIT|UTMALDG)$`)

// profiledCase is a case of an operator whose launches the profiler counts.
type profiledCase struct {
	operator *ladder.Operator
	ladder.Case
}

func (c profiledCase) file() string { return filepath.Join("profiles", c.Profile+".h200.json") }

// take profiles the case, or reads an existing profile, and writes its file.
func (c profiledCase) take(t *testing.T, folder string) {
	launches, err := NewBench(t, Emulator(t), c.operator, 42, c.Size...).Launched()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, filepath.Base(c.operator.Folder)+"_"+c.Profile+".csv")
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		c.profile(t, file, launches)
	}
	counts, err := tool.ReadReport(file)
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, launches, counts)
}

// profile runs the rungs under ncu, each launch once.
func (c profiledCase) profile(t *testing.T, file string, launches []bench.Launched) {
	dev, err := device.Open("cuda")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{opcodes}
	for _, m := range metrics {
		names = append(names, m.metric)
	}
	err = tool.UnderProfiler(dev, file, names, "", func() error {
		b, err := bench.New(dev, c.operator, 42, c.Size...)
		if err != nil {
			return err
		}
		var variants []string
		for _, l := range launches {
			if !slices.Contains(variants, l.Variant) {
				variants = append(variants, l.Variant)
			}
		}
		CheckAll(t, b, "under ncu", variants...)
		return b.Close()
	})
	if err := errors.Join(err, dev.Close()); err != nil {
		t.Fatal(err)
	}
}

// write makes the profile of a case.
func (c profiledCase) write(t *testing.T, launches []bench.Launched, counts []tool.Counters) {
	if len(counts) != len(launches) {
		t.Fatalf("ncu counted %d launches, expected %d", len(counts), len(launches))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "{\n \"device\": %q,\n \"tool\": %q,\n \"date\": %q,\n \"size\": %s,\n \"launches\": [\n",
		counts[0].Device+", "+profiledDriver, profiledTool, time.Now().Format(time.DateOnly), strings.ReplaceAll(fmt.Sprint([]int(c.Size)), " ", ", "))
	for i, l := range launches {
		if counts[i].Entry != l.Entry {
			t.Fatalf("launch %d is %s, expected %s", i, counts[i].Entry, l.Entry)
		}
		if i > 0 {
			out.WriteString(",\n")
		}
		out.WriteString("  " + line(t, l, &counts[i]))
	}
	out.WriteString("\n ]\n}\n")
	if err := os.WriteFile(c.file(), []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// line is a launch as JSON.
func line(t *testing.T, l bench.Launched, c *tool.Counters) string {
	counts := map[string]uint64{}
	var order []string
	for _, m := range metrics {
		n, err := c.Number(m.metric)
		if err != nil {
			t.Fatal(err)
		}
		if counts[m.of] += uint64(n); !slices.Contains(order, m.of) {
			order = append(order, m.of)
		}
	}
	line := fmt.Sprintf("{\"variant\": %q, \"entry\": %q, \"entry_sha256\": %q, \"blocks\": %d", l.Variant, l.Entry, ladder.EntryHash(l.PTX.Text, l.Entry), l.Blocks)
	for _, name := range order {
		if counts[name] > 0 {
			line += fmt.Sprintf(", %q: %d", name, counts[name])
		}
	}
	instances, err := json.Marshal(instancesOf(c.Values[opcodes]))
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
