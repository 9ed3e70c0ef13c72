package inspect_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
	"warpbook/gpu/emu"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/inspect"
)

const sums = `struct P { float x; int n; };
__device__ float twice(float a) {
  float b = a * 2;
  return b;
}
__global__ void sums(const float* x, float* y, int n, P p) {
  __shared__ float s[64];
  __shared__ int two[2][3];
  float sum = 0;
  float loc[4];
  int tid = threadIdx.x;
  for (int i = tid; i < n; i += blockDim.x) {
    float v = twice(x[i]);
    sum += v;
    loc[i & 3] = v;
  }
  s[tid] = sum;
  two[0][1] = p.n;
  __syncthreads();
  if (tid == 0) y[blockIdx.x] = s[0] + p.x + loc[0];
}`

// lines calls a function at the lines that warps come to.
type lines struct {
	at    func(s *engine.Stop)
	trail *engine.Trail
}

func (f *lines) Follows(files []string) bool {
	return strings.Contains(strings.Join(files, " "), "sums")
}
func (f *lines) Begin(t *engine.Trail) { f.trail = t }
func (f *lines) Step(s *engine.Stop) {
	if s.NewLine || s.Fault != nil {
		f.at(s)
	}
}

type p struct {
	X float32
	N int32
}

// launchSums runs the kernel on 100 floats in one block of 64 threads, as a debug build,
// and calls a function at each line.
func launchSums(t *testing.T, source string, at func(s *engine.Stop)) *engine.Trail {
	t.Helper()
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	m, err := compile.CUDA(t.Context(), "sums.cu", source, compile.Options{Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	x, err := gpu.Upload(dev, ramp(100))
	if err != nil {
		t.Fatal(err)
	}
	y, err := gpu.Upload(dev, make([]float32, 1))
	if err != nil {
		t.Fatal(err)
	}
	f := &lines{at: at}
	engine.Follow(f)
	defer engine.Follow(nil)
	if err := m.Entries[0].Launch(dev, gpu.Dim{X: 1}, gpu.Dim{X: 64}, x, y, int32(100), p{0.5, 7}); err != nil {
		t.Fatal(err)
	}
	return f.trail
}

func ramp(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i)
	}
	return list
}

func text(v *inspect.View, list []inspect.Named) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, n.Name+"="+v.Text(n.Value))
	}
	return strings.Join(parts, " ")
}

// A debug build gives the names of the source: variables of the scope, of a called
// function, arguments, arrays in shared memory, each for any lane.
func TestVariables(t *testing.T) {
	seen := map[string]string{}
	note := func(what, got string) {
		if _, has := seen[what]; !has {
			seen[what] = got
		}
	}
	launchSums(t, sums, func(s *engine.Stop) {
		_, line := s.Place()
		v := inspect.New(s)
		switch {
		case line == 14 && s.Warp() == 1:
			note("variables", text(v, v.Variables()))
			note("lane 5", text(v.On(5), v.On(5).Variables()))
			note("arguments", text(v, v.Arguments()[2:]))
			note("pointer", v.Arguments()[0].Value.TypeName()+" "+text(v, v.Arguments()[:1])[:2])
		case line == 3 && s.Warp() == 0:
			note("frames", fmt.Sprint(v.Frames()))
			note("called", text(v, v.Variables())+" "+text(v, v.Arguments()))
			note("caller", text(v.In(1), v.In(1).Variables()))
		case line == 20 && s.Warp() == 0:
			note("shared", text(v, v.Shared()))
			for _, x := range []string{"s[17] + 1", "two[0][1]", "p.n * 2", "x[3]", "*(x + 4)", "threadIdx.x == 5", "isnan(s[0])", "&s[2] - 0", "(int)p.x", "tid ? 1 : 2", "s[64]", "q", "1 +", "loc[0]", "p.z",
				"nothing && s[64]", "tid < 0 && x[1000000]", "f(1)", "1 / 0", "x", "blockDim.x", "-tid", "2.5f * 2", "'a'", "max(3, tid)", "!tid", "*y", "(float*)x"} {
				r, err := v.On(5).Evaluate(x)
				if err != nil {
					note(x, "!"+err.Error())
				} else {
					note(x, v.On(5).Text(r))
				}
			}
		}
	})
	for what, want := range map[string]string{
		"variables": "sum=0 loc={not written yet, not written yet, not written yet, not written yet} tid=32 i=32 v=64",
		"lane 5":    "sum=0 loc={not written yet, not written yet, not written yet, not written yet} tid=37 i=37 v=74",
		"arguments": "n=100 p={x: 0.5, n: 7}",
		"frames":    "[{twice sums.cu 3} {sums sums.cu 13}]",
		"called":    "b=not written yet a=0",
		"caller":    "sum=0 loc={not written yet, not written yet, not written yet, not written yet} tid=0 i=0 v=not written yet",
		"shared":    "s={128, 132, 136, 140, 144, 148, 152, 156, … 64} two={{not written yet, 7, not written yet}, {not written yet, not written yet, not written yet}}",
		"s[17] + 1": "197", "two[0][1]": "7", "p.n * 2": "14", "x[3]": "3", "*(x + 4)": "4", "threadIdx.x == 5": "true", "isnan(s[0])": "false", "(int)p.x": "0", "tid ? 1 : 2": "1",
		"s[64]": "!s[64]: index 64: the array has 64 elements", "blockDim.x": "64", "-tid": "-5", "2.5f * 2": "5", "'a'": "97", "max(3, tid)": "5", "!tid": "false", "1 / 0": "!1 / 0: division by zero",
		"1 +": "!1 +: it ends, expected a value", "loc[0]": "not written yet", "p.z": "!p.z: P has no field z", "tid < 0 && x[1000000]": "false",
		"f(1)": "!f(1): f is not called here: expected a function of numbers such as isnan",
	} {
		if seen[what] != want {
			t.Errorf("%s: %q, want %q", what, seen[what], want)
		}
	}
}
