package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/cuda"
)

// How gpu/emu/testdata/mistakes.sanitizer.json is made, where the GPU and
// compute-sanitizer are, with a folder for the sanitizer's own reports:
//
//	WARPBOOK_VERDICTS=FOLDER go test ./gpu/tool -run TestTakeVerdicts/mistakes
const verdictsVariable = "WARPBOOK_VERDICTS"

const (
	corpora  = "../emu/testdata/"
	atOnce   = 12               // processes under a tool
	hangs    = 7 * time.Second  // a launch that takes longer does not end
	patience = 10 * time.Second // for a report that is being written
)

// broken is a kernel of a corpus as its JSON describes it, see package emu.
type broken struct {
	Name       string
	Kind       string
	N          int
	Shared     int
	TwinShared int
	First      string
	Free       bool
}

// verdict is the first complaint of a tool, or the error without one.
type verdict struct {
	Says  string `json:"says"`
	Lines []int  `json:"lines,omitempty"`
}

// TestTakeVerdicts runs each kernel of a corpus under each tool, and without
// one, in a process of its own, and all corrected twins in one under each tool.
func TestTakeVerdicts(t *testing.T) {
	folder := os.Getenv(verdictsVariable)
	if folder == "" {
		t.Skip("it needs a GPU, with " + verdictsVariable + " naming a folder")
	}
	for _, corpus := range []string{"defects", "mistakes"} {
		t.Run(corpus, func(t *testing.T) { takeVerdicts(t, corpus, folder) })
	}
}

func takeVerdicts(t *testing.T, corpus, folder string) {
	list, err := os.ReadFile(corpora + corpus + ".json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(corpora + corpus + ".sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	var all []broken
	if err := json.Unmarshal(list, &all); err != nil {
		t.Fatal(err)
	}
	tools := append(slices.Clone(Checks), "none")
	verdicts := make([][]verdict, len(all)+1) // the last are of the twins
	for i := range verdicts {
		verdicts[i] = slices.Repeat([]verdict{{Says: "not taken"}}, len(tools))
	}
	var wg sync.WaitGroup
	room := make(chan bool, atOnce)
	run := func(name string, i int, kernels ...broken) {
		for k, tool := range tools {
			room <- true
			wg.Go(func() {
				defer func() { <-room }()
				v, err := judged(string(text), corpus, tool, filepath.Join(folder, name+"."+tool+".txt"), kernels)
				if err != nil {
					t.Errorf("%s under %s: %v", name, tool, err)
					return
				}
				verdicts[i][k] = v
			})
		}
	}
	// Endless kernels slow the others down, so they come last.
	endless := []string{gpu.ErrBarrier.Error(), gpu.ErrMask.Error()}
	for _, last := range []bool{false, true} {
		for i, b := range all {
			if slices.Contains(endless, b.Kind) == last {
				b.Name = "bad_" + b.Name
				run(b.Name, i, b)
			}
		}
		if !last {
			run("ok_"+corpus, len(all), twins(all)...)
		}
		wg.Wait()
		writeVerdicts(t, corpus, text, all, tools, verdicts)
	}
	for k, v := range verdicts[len(all)] {
		if v.Says != "" {
			t.Errorf("the corrected twins under %s: %v", tools[k], v)
		}
	}
}

// twins are the corrected kernels.
func twins(all []broken) (twins []broken) {
	for _, b := range all {
		b.Name, b.Shared = "ok_"+b.Name, max(b.Shared, b.TwinShared)
		twins = append(twins, b)
	}
	return twins
}

// judged runs kernels one after the other in a process under a tool.
func judged(text, corpus, tool, report string, kernels []broken) (v verdict, err error) {
	command, err := below(tool, report)
	if err != nil {
		return v, err
	}
	dev, err := cuda.Open(cuda.Config{Worker: command})
	if err != nil {
		return v, err
	}
	done := make(chan error, 1)
	go func() { done <- launchAll(dev, corpus, text, kernels) }()
	var failed error
	select {
	case failed = <-done:
	case <-time.After(hangs): // its worker ends with this process
		return verdict{Says: "does not end"}, nil
	}
	if err := dev.Close(); err != nil && failed == nil { // the tool sees the end
		return v, err
	}
	if tool != "none" {
		v, err = firstVerdict(report, corpus)
		if err != nil && (failed == nil || !errors.Is(err, errUnfinished)) {
			return v, err
		}
	}
	if v.Says == "" && failed != nil {
		v.Says = cmp.Or(regexp.MustCompile(`CUDA_ERROR_\w+`).FindString(failed.Error()), failed.Error())
	}
	return v, nil
}

// below is the command that starts the worker below a tool. The shell between
// them can be ended without the tool, which then still writes its report.
func below(tool, report string) ([]string, error) {
	worker, err := cuda.WorkerPath()
	if err != nil || tool == "none" {
		return []string{worker}, err
	}
	path, err := find("compute-sanitizer", "compute-sanitizer")
	command := []string{"sh", "-c", `"$0" "$@"; :`, path, "--tool", tool, "--log-file", report, "--check-api-memory-access", "no"}
	if tool == "racecheck" {
		command = append(command, "--racecheck-report", "hazard")
	}
	return append(command, worker), err
}

func launchAll(dev gpu.Device, corpus, text string, kernels []broken) error {
	m, err := dev.Load(corpus+".sm_75.ptx", text)
	if err != nil {
		return err
	}
	for _, b := range kernels {
		if err := b.launch(dev, m); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	return nil
}

// launch launches as TestDefects of package emu does.
func (b broken) launch(dev gpu.Device, m gpu.Module) error {
	n := cmp.Or(b.N, 128)
	var buffers [3]gpu.Buffer
	for i := range buffers {
		var err error
		if buffers[i], err = dev.Alloc(gpu.Uint32, n); err != nil {
			return err
		}
	}
	index := make([]uint32, n)
	for i := range index {
		index[i] = uint32(i)
	}
	err := errors.Join(buffers[0].Upload(index), buffers[1].Upload(make([]uint32, n)))
	for _, name := range []string{b.First, b.Name} {
		if err != nil || name == "" {
			continue
		}
		l := gpu.Launch{Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 64}, Shared: b.Shared, Args: []any{buffers[0], buffers[1], buffers[2], int32(n)}}
		if l.Entry, err = m.Entry(name); err != nil {
			return err
		}
		switch {
		case name == b.First:
			l.Grid = gpu.Dim{X: 1}
		case b.Free:
			err = buffers[2].Free()
			l.Args[2] = buffers[1]
		}
		err = errors.Join(err, dev.Launch(l), dev.Sync())
	}
	return err
}

var (
	complaint = regexp.MustCompile(`^========= (Invalid|Uninitialized|Barrier|Error:|Warning:|Info:|Program hit|.*(?i:synchroni|misaligned|divergent))`)
	sourceAt  = `%s\.cu:(\d+)`
)

// summary is in the last line of a report.
const summary = "SUMMARY"

// errUnfinished is a report from which it is not known whether the tool complains.
var errUnfinished = errors.New("the report has no complaint and was not finished")

// firstVerdict reads a tool's first complaint, and the lines that it names
// itself, not those of the callers.
func firstVerdict(report, corpus string) (v verdict, err error) {
	var text []byte
	for start := time.Now(); time.Since(start) < patience; time.Sleep(100 * time.Millisecond) {
		if text, err = os.ReadFile(report); err == nil && strings.Contains(string(text), summary) {
			break
		}
	}
	if err != nil {
		return v, err
	}
	at := regexp.MustCompile(fmt.Sprintf(sourceAt, corpus))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case v.Says == "" && !complaint.MatchString(line):
		case v.Says == "":
			says, _, _ := strings.Cut(strings.TrimPrefix(line, "========= "), " detected at")
			v.Says = says
		case strings.TrimSpace(line) == "=========" || !strings.HasPrefix(line, "=========     "):
			return v, nil // the next complaint
		case !strings.Contains(line, "Frame"):
			if m := at.FindStringSubmatch(line); m != nil {
				if n, _ := strconv.Atoi(m[1]); !slices.Contains(v.Lines, n) {
					v.Lines = append(v.Lines, n)
					slices.Sort(v.Lines)
				}
			}
		}
	}
	if v.Says == "" && !strings.Contains(string(text), summary) {
		return v, fmt.Errorf("%s: %w within %v", report, errUnfinished, patience)
	}
	return v, nil
}

func writeVerdicts(t *testing.T, corpus string, text []byte, all []broken, tools []string, verdicts [][]verdict) {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"gpu\": \"NVIDIA H200\",\n  \"driver\": \"580.159.04\",\n  \"tool\": \"compute-sanitizer 2025.3.1\",\n  \"date\": %q,\n  \"ptx_sha256\": \"%x\",\n",
		time.Now().Format(time.DateOnly), sha256.Sum256(text))
	fmt.Fprintf(&b, "  \"method\": \"TestTakeVerdicts: each bad_NAME in a process of its own under each tool, and without one; launched as %s.json says; the first report of each, nothing where there was none; a launch that took over %v does not end. All ok_NAME in one process under each tool: no report.\",\n  \"verdicts\": {",
		corpus, hangs)
	for i, one := range all {
		said := map[string]verdict{}
		for k, tool := range tools {
			if verdicts[i][k].Says != "" {
				said[tool] = verdicts[i][k]
			}
		}
		line, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n    %q: %s", map[bool]string{true: ",", false: ""}[i > 0], one.Name, line)
	}
	b.WriteString("\n  }\n}\n")
	if err := os.WriteFile(corpora+corpus+".sanitizer.json", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
