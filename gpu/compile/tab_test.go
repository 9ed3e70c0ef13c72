package compile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/clang/tabtest"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/emu"
)

// clocks reports the PTX of kernels whose results are times.
var clocks = regexp.MustCompile(`%(?:clock|globaltimer)`)

// TestTabCells: the PTX that the compiler of a browser tab makes of a notebook's %%cuda cells
// gives the results and the faults of clang's own back end, and runs at most 1.3 times the
// instructions of all cells. Without WARPBOOK_LONG the seed chooses some of them.
func TestTabCells(t *testing.T) {
	tab := tabtest.Open(t)
	notebooks, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatal("no notebooks: ", err)
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("WARPBOOK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var own, theirs uint64
	launches := 0
	for _, path := range notebooks {
		if strings.Contains(path, ".zh.") { // the same cells
			continue
		}
		for _, cell := range cudaCells(t, path) {
			if os.Getenv("WARPBOOK_LONG") == "" && random.IntN(16) > 0 {
				continue
			}
			line, body, _ := strings.Cut(cell, "\n")
			name := committedFlag.FindStringSubmatch(line)[1]
			a, b := tab.Both(t, name+".cu", body)
			mine, reference := moduleOf(t, name, a), moduleOf(t, name, b)
			for i, e := range reference.Entries {
				at := slices.IndexFunc(mine.Entries, func(m *Entry) bool { return m.Name() == e.Name() })
				if at < 0 {
					t.Fatalf("%s: no entry %s", name, e.Name())
				}
				threads := orderedThreads(t, reference.Entries[i], seed)
				want := launchWith(t, reference.Entries[i], seed, threads, gpu.CheckFaults)
				got := launchWith(t, mine.Entries[at], seed, threads, gpu.CheckFaults)
				launches++
				if clocks.MatchString(a) {
					continue
				}
				own, theirs = own+got.instructions, theirs+want.instructions
				if got.fault != want.fault || !slices.Equal(got.memory, want.memory) {
					t.Errorf("%s: %s: %q, %q by clang's back end; memory %s", name, e.Name(), got.fault, want.fault, difference(got.memory, want.memory))
				}
			}
		}
	}
	t.Logf("%d launches, %d instructions, %d by clang's back end", launches, own, theirs)
	if os.Getenv("WARPBOOK_LONG") != "" && float64(own) > 1.3*float64(theirs) {
		t.Errorf("%d instructions, expected at most 1.3 times the %d of clang's back end", own, theirs)
	}
}

func moduleOf(t *testing.T, name, text string) *Module {
	t.Helper()
	m, err := PTX(name+".ptx", text, 1)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// launched is what a launch left.
type launched struct {
	fault        string // kind, line of the source, block
	memory       []uint32
	instructions uint64
}

// faultOf is a fault without what the PTX decides: lines in it, and which of two groups of
// threads that wait for each other is named first.
func faultOf(err error) string {
	f := (*gpu.Fault)(nil)
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &f):
		return err.Error()
	case strings.Contains(f.Detail, " wait at "):
		return f.Kind.Error()
	}
	return fmt.Sprint(f.Kind, " at ", f.Source, " ", f.Block)
}

// difference names the first word that differs.
func difference(got, want []uint32) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("word %d is %#x, expected %#x", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("of %d words, expected %d", len(got), len(want))
}

// orderedThreads is the largest shape in which no two threads of an entry race, because the
// result of a race depends on the instructions between its accesses.
func orderedThreads(t *testing.T, e *Entry, seed uint64) [2]int {
	t.Helper()
	for _, threads := range [][2]int{{2, 64}, {1, 64}, {1, 32}} {
		l := launchWith(t, e, seed, threads, gpu.CheckFaults|gpu.CheckRaces|gpu.CheckBlockRaces)
		if !strings.HasPrefix(l.fault, gpu.ErrRace.Error()) {
			return threads
		}
	}
	return [2]int{1, 1}
}

// launchWith launches blocks and threads of an entry, on one processor, with a buffer of small
// numbers for each pointer, and small numbers for the rest.
func launchWith(t *testing.T, e *Entry, seed uint64, threads [2]int, checks gpu.Checks) (l launched) {
	t.Helper()
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	dev.(*emu.Device).LimitWorkers(1) // atomics of two blocks come in one order
	entry, err := e.On(dev)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	var args []any
	var buffers []gpu.Buffer
	for _, p := range entry.Params() {
		switch {
		case p.Pointer:
			b, err := dev.Alloc(gpu.Uint32, 4096)
			if err != nil {
				t.Fatal(err)
			}
			values := make([]uint32, 4096)
			for i := range values {
				values[i] = random.Uint32N(64)
			}
			if err := b.Upload(values); err != nil {
				t.Fatal(err)
			}
			args, buffers = append(args, b), append(buffers, b)
		case p.Bytes == 4 && p.Type == "f32":
			args = append(args, float32(1.5))
		case p.Bytes == 4:
			args = append(args, uint32(100))
		case p.Bytes == 8:
			args = append(args, uint64(100))
		default:
			args = append(args, make([]byte, p.Bytes))
		}
	}
	var counters gpu.Counters
	err = dev.Launch(gpu.Launch{Entry: entry, Grid: gpu.Dim{X: threads[0]}, Block: gpu.Dim{X: threads[1]}, Args: args, Checks: checks, Counters: &counters})
	l.fault = faultOf(err)
	for _, b := range buffers {
		values := make([]uint32, 4096)
		if b.Download(values) != nil { // after a fault
			continue
		}
		l.memory = append(l.memory, values...)
	}
	l.instructions = counters.WarpInstructions
	return l
}

// TestTabStartsOnce: clang starts once for each cell after the first with its flags, also for
// one with mistakes.
func TestTabStartsOnce(t *testing.T) {
	tab := tabtest.Open(t)
	for i, c := range []struct {
		text, std, log string
		starts         int
	}{
		{"#include <stdio.h>\n#include <stdint.h>\n#include <algorithm>\n__global__ void a(int32_t* x) { x[0] = std::max(x[0], 1); }", "c++17", "", 2},
		{"__global__ void b(int* x) { x[0] = y; }", "c++17", "identifier \"y\" is undefined", 1},
		{"__global__ void c(int* x) { x[0] = 3; }", "c++17", "", 1},
		{"__global__ void d(int* x) { x[0] = 4; }", "c++99", "invalid value for --std c++99", 2},
		{"__global__ void e(int* x) { x[0] = 5; }", "c++20", "", 2},
		{"__global__ void f(int* x) { x[0] = 6; }", "c++20", "", 1},
	} {
		reply := tab.Compile(t, compiler.Request{Name: "a.cu", Text: c.text, Options: []string{"--gpu-architecture=compute_75", "--std=" + c.std}})
		if reply.Starts != c.starts || !strings.Contains(reply.Reply.Log, c.log) || (reply.Reply.PTX == "") != (c.log != "") {
			t.Errorf("cell %d: %d starts, expected %d; %q\n%s", i, reply.Starts, c.starts, reply.Reply.Error, reply.Reply.Log)
		}
		t.Logf("cell %d: %d ms", i, reply.Ms)
	}
}
