package puzzles

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
	"warpbook/gpu/ptxfile"
	"warpbook/gpu/trace"
)

// newCourse opens the emulator with a seed that is printed; WARPBOOK_SEED repeats one.
func newCourse(t *testing.T) *Course {
	t.Helper()
	seed := rand.Int()
	if s, err := strconv.Atoi(os.Getenv("WARPBOOK_SEED")); err == nil {
		seed = s
	}
	t.Log("seed", seed)
	dev := device.MustOpen("emu")
	t.Cleanup(func() { dev.Close() })
	c, err := New(dev, seed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each committed solution passes, in CUDA and as Triton made it.
func TestSolutions(t *testing.T) {
	c := newCourse(t)
	for _, p := range All() {
		s, err := c.Solution(p.Name)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if s.Verdict.Result != Pass {
			t.Errorf("%v", s.Verdict)
		}
		if p.Triton != (s.Made != nil) || s.Made != nil && s.Made.Result != Pass {
			t.Errorf("made by Triton: %v", s.Made)
		}
	}
}

func (c *Course) reject(t *testing.T, p *Puzzle, ptx, entry string) *Verdict {
	t.Helper()
	v, err := c.check(p, program{ptx, "answer.ptx", entry, p.Block, 0, 0, checks})
	if err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	if v.Result == Pass {
		t.Errorf("%s passes", entry)
	}
	return v
}

// Each puzzle rejects an answer that writes nothing, by name.
func TestEmptyAnswer(t *testing.T) {
	c := newCourse(t)
	for _, p := range All() {
		if v := c.reject(t, p, blank(p), p.Kernel()); v.Result != Blank {
			t.Errorf("%v", v)
		}
	}
}

// blank is the PTX of an empty kernel.
func blank(p *Puzzle) string {
	var params []string
	for range p.arrays() {
		params = append(params, fmt.Sprintf(".param .u64 p%d", len(params)))
	}
	for range p.Scalars {
		params = append(params, fmt.Sprintf(".param .u32 p%d", len(params)))
	}
	return fmt.Sprintf(".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry %s(%s)\n{\n\tret;\n}\n", p.Kernel(), strings.Join(params, ", "))
}

// Each of the fourteen rejects a wrong answer, and a racy one as a race.
func TestWrongAndRacy(t *testing.T) {
	c := newCourse(t)
	ptx := read("wrong.sm_75.ptx")
	for _, p := range course {
		v := c.reject(t, p, ptx, p.Kernel()+"_wrong")
		t.Log(v)
		if v.Result != Fail || errors.Is(v.Fault, gpu.ErrRace) {
			t.Errorf("wrong: %v", v)
		}
		v = c.reject(t, p, ptx, p.Kernel()+"_race")
		t.Log(v)
		if !errors.Is(v.Fault, gpu.ErrRace) {
			t.Errorf("racy: %v", v)
		}
	}
}

// mapPTX is an answer to map by hand. The kernel ends for threads for which p1 holds.
func mapPTX(t *testing.T, p1 string) *compile.Entry {
	t.Helper()
	m, err := compile.PTX("mine.ptx", `.version 6.4
.target sm_75
.address_size 64
.visible .entry puzzle_map(.param .u64 out, .param .u64 x)
{
	.reg .pred %p<2>;
	.reg .b32 %r<2>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<5>;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	ld.param.u64 %rd2, [x];
	add.s64 %rd2, %rd2, %rd1;
	ld.global.f32 %f1, [%rd2];
	mov.f32 %f3, 0f41200000;
	`+p1+`
	add.f32 %f2, %f1, %f3;
	ld.param.u64 %rd3, [out];
	add.s64 %rd3, %rd3, %rd1;
	st.global.f32 [%rd3], %f2;
	ret;
}
`, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m.Entries[0]
}

// TestReasons: a wrong answer names the first element, how many are wrong, and the launch.
func TestReasons(t *testing.T) {
	c := newCourse(t)
	for p1, want := range map[string]string{
		"setp.lt.u32 %p1, %r1, 2;\n@%p1 ret;":                     "2 of 8 elements were not written, the first out[0]; the grid is (1,1,1), the block (8,1,1)",
		"setp.gt.u32 %p1, %r1, 1;\n@%p1 mov.f32 %f3, 0f00000000;": ", the first of 6 wrong elements of 8; the grid is (1,1,1), the block (8,1,1)",
		"setp.eq.u32 %p1, %r1, 3;\n@%p1 mov.f32 %f3, 0f00000000;": "; the grid is (1,1,1), the block (8,1,1)",
		"setp.lt.u32 %p1, %r1, 9;\n@%p1 ret;":                     "no element of out was written",
	} {
		v, err := c.Check("map", mapPTX(t, p1))
		if err != nil || v.Result == Pass || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %v, %v, expected %s", p1, v, err, want)
		}
	}
}

// An answer can be PTX by hand, which needs no compiler of CUDA.
func TestAnswerInPTX(t *testing.T) {
	c := newCourse(t)
	v, err := c.Check("map", mapPTX(t, ""))
	if err != nil || v.Result != Pass || v.Score != v.Ours {
		t.Fatalf("%v %v, %+v, expected %+v", v, err, v.Score, v.Ours)
	}
	d := v.Drawing()
	if d == nil || len(d.rows) != 8 || d.text[3][3] != "w" || d.text[3][9+3] != "r" || d.text[3][4] != "" {
		t.Errorf("drawing: %+v", d)
	}
}

// The committed PTX is of today's sources: run go generate ./ops/puzzles, and
// python ops/puzzles/triton/make.py.
func TestStalePTX(t *testing.T) {
	hashLine := regexp.MustCompile(`(?m)^// sha256: ([0-9a-f]{64}) (\S+)$`)
	found := 0
	for _, pattern := range []string{"*.ptx", "triton/*.ptx"} {
		names, err := ptxfile.Glob(files, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			m := hashLine.FindStringSubmatch(read(name))
			if m == nil {
				t.Errorf("%s holds no hash of its source", name)
				continue
			}
			found++
			if got := fmt.Sprintf("%x", sha256.Sum256([]byte(read(name[:strings.LastIndex(name, "/")+1]+m[2])))); got != m[1] {
				t.Errorf("%s is not of today's %s", name, m[2])
			}
		}
	}
	for _, name := range []string{"vector_add.triton.ptx", "softmax_inductor.ptx"} {
		path := "../../notebooks/13-languages/" + name
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := hashLine.FindStringSubmatch(string(text))
		if m == nil {
			t.Errorf("%s holds no hash of its source", path)
			continue
		}
		source, err := os.ReadFile("../../notebooks/13-languages/" + m[2])
		if err != nil || m[1] != fmt.Sprintf("%x", sha256.Sum256(source)) {
			t.Errorf("%s is not of today's %s (%v): run the command of its first line", path, m[2], err)
		}
	}
	if found != 15 {
		t.Errorf("%d files of PTX, expected 3 of NVRTC and 12 of Triton", found)
	}
}

// A user's mistake before a launch is an error of one line.
func TestErrors(t *testing.T) {
	c := newCourse(t)
	zip, err := compile.PTX("answer.ptx", blank(course[1]), 1)
	if err != nil {
		t.Fatal(err)
	}
	_, wrongKernel := c.Check("map", zip.Entries[0])
	_, noAnswer := c.Check("map", nil)
	_, noPuzzle := c.Task("mapp")
	_, noSolution := c.Solution("mapp")
	_, noHint := c.Hint("map", 3)
	for i, err := range []error{wrongKernel, noAnswer, noPuzzle, noSolution, noHint} {
		want := []string{"puzzles: map: puzzle_zip has 3 parameters, expected 2: declare __global__ void puzzle_map(float* out, const float* x)",
			"puzzles: map: no answer: run the %%cuda cell with puzzle_map first", `puzzles: no puzzle "mapp", expected one such as map`, `puzzles: no puzzle "mapp", expected`,
			"puzzles: map: no hint 3: expected 1 to 2"}[i]
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// noChecks is a device that cannot check, as a GPU.
type noChecks struct{ gpu.Device }

func (noChecks) Info() gpu.Info { return gpu.Info{Name: "a GPU"} }

func TestNeedsEmulator(t *testing.T) {
	if _, err := New(noChecks{}, 1); err == nil || !strings.Contains(err.Error(), `device.MustOpen("emu")`) {
		t.Error(err)
	}
}

// Each puzzle has hints and a picture of its task or too many elements for one, and its
// solution a drawing that marks every element of the output as written.
func TestTasksAndDrawings(t *testing.T) {
	c := newCourse(t)
	for _, p := range All() {
		task, err := c.Task(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Hints) == 0 || (task.wanted == nil) != (p.Out.Len() > mostRows || task.wanted == nil && inputs(p) > mostColumns) {
			t.Errorf("%s: %d hints, picture %v", p.Name, len(p.Hints), task.wanted != nil)
		}
		s, err := c.Solution(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.CUDA, "void "+p.Kernel()+"(") || strings.Contains(s.CUDA, "extern") {
			t.Errorf("%s: the solution's code is %q", p.Name, s.CUDA)
		}
		d := s.Verdict.Drawing()
		if d == nil {
			t.Logf("%s: no drawing", p.Name)
			continue
		}
		for k := range p.Out.Len() {
			written := false
			for r := range d.rows {
				written = written || d.level[r][k] >= levelWrite
			}
			if !written {
				t.Errorf("%s: element %d of out is not drawn as written", p.Name, k)
			}
		}
	}
}

func inputs(p *Puzzle) (n int) {
	for _, a := range p.In {
		n += a.Len() + 1
	}
	return n
}

// The search for races in global memory follows barriers: of the block, and of a warp.
func TestFindRace(t *testing.T) {
	l := gpu.Launch{Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 64}}
	at := func(k trace.Kind, block, thread int) trace.Event {
		return trace.Event{Instruction: &trace.Instruction{Kind: k, Bytes: 4}, Address: 64, Thread: gpu.Dim{X: thread}, Block: gpu.Dim{X: block}}
	}
	sync := func(k trace.Kind, threads ...int) (all []trace.Event) {
		for _, i := range threads {
			all = append(all, at(k, 0, i))
		}
		return all
	}
	for name, c := range map[string]struct {
		events []trace.Event
		race   bool
	}{
		"two reads":                 {[]trace.Event{at(trace.Load, 0, 0), at(trace.Load, 0, 1)}, false},
		"one thread":                {[]trace.Event{at(trace.Store, 0, 0), at(trace.Load, 0, 0)}, false},
		"write and read":            {[]trace.Event{at(trace.Store, 0, 0), at(trace.Load, 0, 1)}, true},
		"read and write":            {[]trace.Event{at(trace.Load, 0, 0), at(trace.Store, 0, 1)}, true},
		"two writes":                {[]trace.Event{at(trace.Store, 0, 0), at(trace.Store, 0, 1)}, true},
		"two atomics":               {[]trace.Event{at(trace.Atomic, 0, 0), at(trace.Atomic, 0, 1)}, false},
		"atomic and write":          {[]trace.Event{at(trace.Atomic, 0, 0), at(trace.Store, 0, 1)}, true},
		"two blocks' writes":        {[]trace.Event{at(trace.Store, 0, 0), at(trace.Store, 1, 0)}, true},
		"two blocks' atomics":       {[]trace.Event{at(trace.Atomic, 0, 0), at(trace.Atomic, 1, 0)}, false},
		"barrier":                   {append(append([]trace.Event{at(trace.Store, 0, 0)}, sync(trace.BlockBarrier, 0, 40)...), at(trace.Load, 0, 40)), false},
		"barrier of a warp":         {append(append([]trace.Event{at(trace.Store, 0, 0)}, sync(trace.WarpBarrier, 0, 1)...), at(trace.Load, 0, 1)), false},
		"barriers of another warp":  {append(append([]trace.Event{at(trace.Store, 0, 0)}, sync(trace.WarpBarrier, 0, 40)...), at(trace.Load, 0, 40)), true},
		"behind one thread's write": {append([]trace.Event{at(trace.Store, 0, 0), at(trace.Store, 0, 0)}, at(trace.Load, 0, 1)), true},
	} {
		if _, _, found := findRace(c.events, l); found != c.race {
			t.Errorf("%s: race %v, expected %v", name, found, c.race)
		}
	}
}
