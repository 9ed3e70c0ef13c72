package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"warpbook/gpu/clang"
)

// blockSum adds the halves of numbers.
const blockSum = `%%cuda sums
__device__ float half_of(float a) {
  float b = a / 2;
  return b;
}
__global__ void block_sum(const float* x, float* y, int n) {
  __shared__ float s[64];
  int tid = threadIdx.x;

  float sum = 0;
  for (int i = tid; i < n; i += blockDim.x) sum += half_of(x[i]);
  s[tid] = sum;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (tid < k) s[tid] += s[tid + k];
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = s[0];
}`

const launchSum = `import ("warpbook/gpu"; "warpbook/gpu/device")
dev, err := device.Open("emu")
values := make([]float32, 100)
for i := range values { values[i] = float32(i) }
x, err := gpu.Upload(dev, values)
y, err := gpu.Upload(dev, make([]float32, 2))
launch := func() error {
	return block_sum.Launch(dev, gpu.Dim{X: 2}, gpu.Dim{X: 64}, x, y, int32(100))
}`

func attachCUDA(t *testing.T) *debugged {
	t.Helper()
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	d := attach(t)
	d.value(blockSum)
	d.value(launchSum)
	return d
}

func (d *debugged) evaluate(s stop, expression string) string {
	d.t.Helper()
	r := d.ask("evaluate", fmt.Sprintf(`{"expression":%s,"frameId":%d,"context":"repl"}`, quoted(expression), d.frames(s)[0].ID))
	if !r.Success {
		return r.Message
	}
	return decode[struct{ Result string }](d.t, r.Body).Result
}

// launched are the frames outside of a kernel's: of the function that launches it, and of
// the cell that calls that.
const launched = " < func1:8 < cell 3:1"

// A breakpoint in a %%cuda cell stops its debug build, in a cell with a name, too: with
// the variables of the source, those of a called function, in each lane. A breakpoint on a
// line without code moves to the next, before the cell is compiled.
func TestDebugCUDA(t *testing.T) {
	d := attachCUDA(t)
	d.expect("breakpoints", d.breaks(blockSum, line(9), line(3)), "10 3")
	s, done := d.next("launch()")
	d.expect("stop", d.where(s), "breakpoint block_sum:10"+launched)
	d.breaks(blockSum, line(3))
	d.goOn(s)
	s = d.stopped()
	d.expect("in a function", d.where(s), "breakpoint half_of:3 < block_sum:11"+launched)
	d.expect("its variables", d.locals(s, 0), "b=not written yet")
	d.expect("its caller's", d.locals(s, 1), "tid=0 sum=0 i=0")
	s = d.step("next", s)
	d.expect("value", d.evaluate(s, "b + a + 1"), "1")
	frame := d.frames(s)[0].ID
	_, lanes := d.scope(frame, "All lanes")
	var b variable
	for _, v := range lanes {
		if v.Name == "b" {
			b = v
		}
	}
	d.expect("lane 31", d.list(b.VariablesReference)[31].Value, "15.5")
	d.breaks(blockSum, `{"line":18,"condition":"threadIdx.x == 37 && s[0] > 1"}`, `{"line":15,"condition":"tid == 5 && k == 4 && !isnan(s[tid])"}`)
	d.goOn(s)
	s = d.stopped()
	d.expect("the lane of a condition", d.where(s)+" "+d.evaluate(s, "lane"), "breakpoint block_sum:15"+launched+" 5")
	d.breaks(blockSum)
	d.ends(s, done)
}

// A step from the line of Go that launches a kernel enters it, and steps of the warp pass
// over a called function.
func TestDebugStepsIntoKernel(t *testing.T) {
	d := attachCUDA(t)
	d.breaks(launchSum, line(8))
	s, done := d.next("launch()")
	d.expect("stop", d.where(s), "breakpoint"+launched[2:])
	for range 3 {
		if s = d.step("stepIn", s); strings.Contains(d.where(s), "block_sum") {
			break
		}
	}
	d.expect("entered", strings.Fields(d.where(s))[1], "block_sum:6")
	for range 4 {
		s = d.step("next", s)
	}
	d.expect("over the call", d.where(s), "step block_sum:11"+launched)
	s = d.step("next", s)
	d.expect("in the second iteration", strings.Fields(d.where(s))[1], "block_sum:11")
	s = d.step("stepOut", s)
	d.expect("to the barrier", strings.Fields(d.where(s))[1], "block_sum:14")
	if e := d.ends(s, done); e.Error != nil {
		t.Errorf("%v", e.Error)
	}
}

const wrongSum = `%%cuda
__global__ void wrong(const float* x, float* y) {
  __shared__ float s[64];
  int tid = threadIdx.x;
  s[tid] = sqrtf(x[tid] - 1);
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (tid < k) s[tid] += s[tid + k];
    __syncthreads();
  }
  if (tid == 0) y[0] = s[0];
}`

// startWrong compiles a kernel that makes a NaN in lane 0.
func startWrong(d *debugged) {
	d.value(wrongSum)
	d.value(strings.NewReplacer("block_sum", "wrong", "Dim{X: 2}", "Dim{X: 1}", ", int32(100))", ")").Replace(launchSum))
}

// A data breakpoint stops at the write of an element, a NaN at the instruction that makes
// it; from there the debugger goes back, to the last write, and forward to the present.
func TestDebugBackwards(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	d := attach(t)
	startWrong(d)
	d.must("setExceptionBreakpoints", `{"filters":["nans"]}`)
	s, done := d.next("launch()")
	d.expect("NaN", strings.Fields(d.where(s))[1], "wrong:5")
	d.expect("its text", s.Text[strings.Index(s.Text, " has"):], " has made a NaN in lanes 0")
	info := decode[struct{ DataID string }](t, d.must("dataBreakpointInfo", fmt.Sprintf(`{"name":"s[0]","frameId":%d}`, d.frames(s)[0].ID)))
	d.must("setExceptionBreakpoints", `{"filters":[]}`)
	d.must("setDataBreakpoints", fmt.Sprintf(`{"breakpoints":[{"dataId":%s,"accessType":"write"}]}`, quoted(info.DataID)))
	d.goOn(s)
	s = d.stopped()
	d.expect("data", s.Text, "block (0,0,0) thread (0,0,0) writes s[0]")
	d.expect("before the write", d.evaluate(s, "s[0]"), "not written yet")
	d.must("setDataBreakpoints", `{"breakpoints":[]}`)
	d.breaks(wrongSum, line(11))
	d.goOn(s)
	s = d.stopped()
	d.expect("end", d.where(s), "breakpoint wrong:11"+launched)
	d.expect("value", d.evaluate(s, "s[0]"), "NaN")
	s = d.step("stepBack", s)
	d.expect("back", strings.Fields(d.where(s))[1], "wrong:7")
	s = d.step("stepBack", s)
	d.expect("back from the condition to the step of the loop", strings.Fields(d.where(s))[1], "wrong:7")
	d.expect("variable", d.evaluate(s, "k"), "1")
	d.evaluate(s, "%debug last-write s[0]")
	s = d.stopped()
	d.expect("last write", d.where(s)+" "+d.evaluate(s, "k"), "step wrong:8"+launched+" 1")
	d.evaluate(s, "%debug first-nan")
	s = d.stopped()
	d.expect("first NaN", strings.Fields(d.where(s))[1], "wrong:5")
	d.must("continue", fmt.Sprintf(`{"threadId":%d}`, s.ThreadID))
	s = d.stopped()
	d.expect("the present", d.where(s)+" "+d.evaluate(s, "s[0]"), "breakpoint wrong:11"+launched+" NaN")
	d.breaks(wrongSum)
	d.ends(s, done)
}

// %debug in a cell goes through the last launch without a client, to the cause of a NaN.
func TestDebugMagic(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	d := &debugged{client: start(t)}
	startWrong(d)
	if e := d.run("%debug back"); e.Error == nil || !strings.Contains(e.Error.Value, "no launch is kept") {
		t.Errorf("without a launch: %v", e.Error)
	}
	d.run("%debug on")
	d.run("launch()")
	for _, step := range []struct{ command, want string }{
		{"first-nan", "makes the first NaN, in block (0,0,0), lane 0 of warp 0\nblock (0,0,0) thread (0,0,0) (warp 0 lane 0, active 0-31)\n  wrong at"},
		{"print x[tid]", "x[tid] = 0"},
		{"lanes tid > 3", "lanes 0-3: false\nlanes 4-31: true"},
		{"fault", "wrong at"},
		{"last-write s[0]", "thread (0,0,0) writes s[0]"},
		{"print k", "k = 1"},
		{"goto 8 if tid == 40 && k == 16", "thread (40,0,0)"},
		{"focus thread 3", "thread (3,0,0)"},
		{"back 2", "wrong at"},
	} {
		d.expect(step.command, contains(d.printed("%debug "+step.command), step.want), step.want)
	}
	d.run("%debug picture")
	shown := <-d.shown
	svg, _ := shown.Data["image/svg+xml"].(string)
	if lines, _ := shown.Data["text/plain"].(string); !strings.Contains(lines, "line 8: lanes 0-31, reads 0-31, writes 0-31") || !strings.Contains(svg, "<svg ") || strings.Contains(svg, "<script") || strings.Count(svg, "#111") < 2 {
		t.Errorf("picture: %v %v", shown.Data, shown.Type)
	}
	for command, want := range map[string]string{"goto x": "expected a line", "dance": "no command", "last-write 3": "no place", "focus lane": "expected block X Y Z, warp N", "back x": "expected a number"} {
		if e := d.run("%debug " + command); e.Error == nil || !strings.Contains(e.Error.Value, want) {
			t.Errorf("%s: %v, want %s", command, e.Error, want)
		}
	}
}

// contains is the text that is wanted if it is a part of the other, else that one.
func contains(text, want string) string {
	if strings.Contains(text, want) {
		return want
	}
	return text
}

// printed is what a cell prints.
func (d *debugged) printed(code string) string {
	d.t.Helper()
	d.out.take()
	if e := d.run(code); e.Error != nil {
		return e.Error.Value
	}
	return d.out.take()
}
