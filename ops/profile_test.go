package ops

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/device"
)

// How testdata/reduce.h200.json is made, where the GPU and ncu are:
//
//	printf '#!/bin/sh\nexec ncu --csv --page raw --metrics %s --log-file profile.csv WORKER "$@"' METRICS > profiled
//	WARPBOOK_DEVICE=cuda WARPBOOK_CUDA_WORKER=$PWD/profiled WARPBOOK_PROFILE=1 go test ./ops -run TestProfiledRun
//	WARPBOOK_PROFILE=profile.csv go test ./ops -run TestWriteProfile
//
// with the worker that `go run ./install` has built in place of WORKER, and the
// metrics of the table below in place of METRICS. It is the worker that runs
// under the profiler; compute-sanitizer --tool racecheck goes the same way.
const profileVariable = "WARPBOOK_PROFILE"

// profiledSize leaves a rest everywhere.
const profiledSize = 1<<20 + 3

// metrics are the columns of a profile and what is made of them.
var metrics = []struct{ of, metric string }{
	{"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
	{"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
	{"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
	{"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
	{"global_red_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
	{"global_red_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
	{"shared_load_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
	{"shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
	{"shared_store_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
	{"shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
}

// TestProfiledRun runs each launch of the ladder once, under a profiler.
func TestProfiledRun(t *testing.T) {
	if os.Getenv(profileVariable) == "" {
		t.Skip("it is run under ncu, with " + profileVariable + " set")
	}
	checkAll(t, newBench(t, device.MustOpen(""), Reduce, 42, profiledSize), "random")
}

// TestWriteProfile makes testdata of what ncu printed.
func TestWriteProfile(t *testing.T) {
	path := os.Getenv(profileVariable)
	if path == "" || path == "1" {
		t.Skip("set " + profileVariable + " to what ncu printed")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for line := range strings.Lines(string(text)) { // ncu's own lines stand between them
		if strings.HasPrefix(line, `"`) {
			table.WriteString(line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	file, err := pick(Reduce.Name, files(t, Reduce.module(Variant{})), device.MustOpen("emu:h200").Info())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "{\n \"device\": %q,\n \"tool\": %q,\n \"date\": %q,\n \"size\": [%d],\n \"ptx_sha256\": \"%x\",\n \"launches\": [\n",
		"NVIDIA H200, driver 580.159.04", "ncu 2025.3.1", time.Now().Format(time.DateOnly), profiledSize, sha256.Sum256([]byte(file.text)))
	for i, row := range rows[2:] { // names and units come first
		if i > 0 {
			out.WriteString(",\n")
		}
		out.WriteString("  " + profileLine(t, file, rows[0], row))
	}
	out.WriteString("\n ]\n}\n")
	if err := os.WriteFile("testdata/reduce.h200.json", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// profileLine is a launch as JSON.
func profileLine(t *testing.T, file ptxFile, names, row []string) string {
	cell := func(name string) string { return row[slices.Index(names, name)] }
	entry, _, _ := strings.Cut(cell("Kernel Name"), "(")
	counts := map[string]uint64{}
	var order []string
	for _, m := range metrics {
		n, err := strconv.ParseFloat(strings.ReplaceAll(cell(m.metric), ",", ""), 64)
		if err != nil {
			t.Fatalf("%s of %s: %v", m.metric, entry, err)
		}
		if counts[m.of] += uint64(n); !slices.Contains(order, m.of) {
			order = append(order, m.of)
		}
	}
	grid := regexp.MustCompile(`\d+`).FindString(cell("Grid Size"))
	line := fmt.Sprintf("{\"entry\": %q, \"entry_sha256\": %q, \"blocks\": %s", entry, EntryHash(file.text, entry), grid)
	for _, name := range order {
		line += fmt.Sprintf(", %q: %d", name, counts[name])
	}
	if line += "}"; !json.Valid([]byte(line)) {
		t.Fatalf("%s is no JSON", line)
	}
	return line
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
