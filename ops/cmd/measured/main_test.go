package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/ops"
)

// named puts rungs of the catalogue into a text: this command works with any. $ShortTF32
// is the name without that of its operator.
func named(text string) string {
	var pairs []string
	for mark, o := range map[string]*ops.Operator{"TF32": ops.GemmTF32, "BATCHED": ops.GemmBatched, "BIAS": ops.GemmBiasReLU} {
		name := onGPU(o)[0]
		pairs = append(pairs, "$"+mark, name, "$Short"+mark, strings.TrimPrefix(name, o.Name+"_"))
	}
	return strings.NewReplacer(append(pairs, "$FIRST", onGPU(ops.Gemm)[0], "$SECOND", onGPU(ops.Gemm)[1])...).Replace(text)
}

// onGPU are the names of the rungs that run on a device.
func onGPU(o *ops.Operator) (names []string) {
	for _, v := range o.Variants {
		if v.Host == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

var figures = named(`{"operator":"gemm","name":"cpu","size":[256,256,256],"verdict":"FAIL"}
{"operator":"gemm","name":"$FIRST","size":[256,256,256],"verdict":"PASS","median_ns":27670.4,"device":"NVIDIA H200","gpu":{"clock_mhz":1965},"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z","commit":"commit 0123456789ab"}}
{"operator":"gemm","name":"$FIRST","size":[64,4096,4096],"verdict":"PASS","median_ns":100000,"device":"NVIDIA H200","gpu":{"clock_mhz":1980},"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z","commit":"commit 0123456789ab"}}
{"operator":"gemm","name":"cublas_sgemm","size":[64,4096,4096],"verdict":"PASS","median_ns":80000}
{"operator":"gemm","name":"$SECOND","size":[3072,3072,3072],"verdict":"PASS","median_ns":1442000,"device":"NVIDIA H200","gpu":{"clock_mhz":1980},"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z","commit":"commit 0123456789ab"}}
{"operator":"gemm","name":"limit_product","size":[256,256,256],"verdict":"PASS","median_ns":500,"gflops":65230,"note":"in registers"}
{"operator":"gemm","name":"limit_product","size":[64,4096,4096],"verdict":"PASS","median_ns":500,"gflops":63000,"note":"too short to be the roof"}
{"operator":"gemm","name":"cublas_sgemm","size":[256,256,256],"verdict":"PASS","median_ns":6700}
{"operator":"gemm","name":"cublas_sgemm","size":[256,256,256],"verdict":"PASS","median_ns":6480}
{"operator":"gemm_tf32","name":"$TF32","size":[4096,4096,4096],"verdict":"PASS","median_ns":500000}
{"operator":"gemm_tf32","name":"cublas_tf32","size":[4096,4096,4096],"verdict":"PASS","median_ns":250000}
{"operator":"gemm_tf32","name":"cublas_tf32","size":[512,512,512],"verdict":"PASS","median_ns":2000}
{"operator":"gemm_tf32","name":"$TF32","size":[512,512,512],"verdict":"PASS","median_ns":1000}
{"operator":"gemm_batched","name":"$BATCHED","size":[64,512,512,512],"verdict":"PASS","median_ns":400000}
{"operator":"gemm_bias_relu","name":"$BIAS","size":[4096,4096,4096],"verdict":"PASS","median_ns":2700000}
`)

// Figures become a file, a line for each size, and the tables of the notes. 3072, where
// the bench was ended before its peers had a turn, is left out.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	path, notes := filepath.Join(dir, "gemm", "measured", "gemm_run.json"), filepath.Join(dir, "gemm", "notes.md")
	for name, text := range map[string]string{
		path:  `{"title": "a run", "roofs": {"float32_tflops": 70, "memory_tbps": 3}, "times": [{"size": [1, 1, 1], "tflops": {"old": 1}}]}`,
		notes: "before\n\n<!-- gemm_run square -->\n| old |\n\nbetween\n\n<!-- gemm_run oblong -->\n| old |\n\nafter\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(strings.NewReader(figures), dir, "gemm_run", 3.5); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		path: `{
 "title": "a run",
 "device": "NVIDIA H200, driver 1.2, 1965 to 1980 MHz",
 "date": "2026-11-22",
 "commit": "commit 0123456789ab",
 "method": "a graph; data seed 1; the median of 1 to 2 repetitions, ours and theirs alternately",
 "roofs": {
  "float32_tflops": 65.2,
  "memory_tbps": 3.5,
  "method": "float32: in registers, in the same run; memory: limit_read of notebooks/results/h200/01-reduce.json"
 },
 "times": [
  {"size":[256,256,256],"us":{"cublas_sgemm":6.59,"$FIRST":27.67},"range_us":{"cublas_sgemm":[6.48,6.7]},"turns":1,"theirs":["cublas_sgemm"]},
  {"operator":"gemm_bias_relu","label":"bias relu 4096","size":[4096,4096,4096],"us":{"$BIAS":2700},"turns":1},
  {"operator":"gemm_tf32","label":"TF32 512","size":[512,512,512],"us":{"cublas":2,"$ShortTF32":1},"turns":1,"theirs":["cublas"]},
  {"operator":"gemm_tf32","label":"TF32 4096","size":[4096,4096,4096],"us":{"cublas":250,"$ShortTF32":500},"turns":1,"theirs":["cublas"]},
  {"size":[64,4096,4096],"us":{"cublas_sgemm":80,"$FIRST":100},"turns":1,"theirs":["cublas_sgemm"]},
  {"operator":"gemm_batched","label":"batched 64x512x512x512","size":[64,512,512,512],"us":{"$ShortBATCHED":400},"turns":1}
 ]
}
`,
		notes: `before

<!-- gemm_run square -->
| rung | 256 | bias relu 4096 | TF32 512 | TF32 4096 |
| --- | --- | --- | --- | --- |
| $FIRST | 1.21 | - | - | - |
| $BIAS | - | 50.9 | - | - |
| $ShortTF32 | - | - | 268 | 275 |
| cublas_sgemm | 5.09 | - | - | - |
| cublas | - | - | 134 | 550 |
| ours / theirs | 0.24 | - | 2.00 | 0.50 |

between

<!-- gemm_run oblong -->
| rung | 64x4096x4096 | batched 64x512x512x512 |
| --- | --- | --- |
| $FIRST | 21.5 | - |
| $ShortBATCHED | - | 42.9 |
| cublas_sgemm | 26.8 | - |
| ours / theirs | 0.80 | - |

after
`} {
		if got, err := os.ReadFile(name); err != nil || string(got) != named(want) {
			t.Errorf("%v, %s:\n%s\nexpected\n%s", err, name, got, named(want))
		}
	}
}

// Times of different parameters have columns of their own.
func TestSettings(t *testing.T) {
	figure := func(settings string, ns int) string {
		return strings.Replace(line("NVIDIA H200", "NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)", "commit 0123456789ab"), `"median_ns":5`, fmt.Sprintf(`"settings":%q,"median_ns":%d`, settings, ns), 1)
	}
	var f file
	if err := f.take(strings.NewReader(figure("", 1000)+figure("alpha = 2", 7000)+figure("", 3000)), "gemm"); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, times := range f.Times {
		got[times.Label] = times.US[named("$FIRST")]
	}
	if want := map[string]float64{"": 2, "256, alpha = 2": 7}; !maps.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// line is a figure of ours, whose device, driver and commit are given.
func line(device, environment, commit string) string {
	return fmt.Sprintf(named(`{"operator":"gemm","name":"$FIRST","size":[256,256,256],"verdict":"PASS","median_ns":5,"device":%q,`)+
		`"environment":{"device":%q,"commit":%q,"date":"2026-11-22T10:00:00Z"}}`+"\n", device, environment, commit)
}

// Emulated figures and figures of several devices, drivers or commits do not
// become a file.
func TestMixed(t *testing.T) {
	const h200, driver, commit = "NVIDIA H200", "NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)", "commit 0123456789ab"
	ours := line(h200, driver, commit)
	for name, test := range map[string]struct{ figures, want string }{
		"emulated":              {line("emulator of NVIDIA H200", "emulator of NVIDIA H200 (sm_90)", commit), `line 1: $FIRST: emulated on "emulator of NVIDIA H200 (sm_90)", expected a GPU`},
		"emulated, older bench": {line(h200, "emulator of NVIDIA H200 (sm_90)", commit), "line 1: $FIRST: emulated"},
		"emulated later":        {ours + line("emulator of NVIDIA H200", "", ""), `line 2: $FIRST: emulated on "emulator of NVIDIA H200"`},
		"devices":               {ours + line("NVIDIA H100", "NVIDIA H100 (sm_90, driver 1.2, CUDA 13.0)", commit), `line 2: $FIRST: device "NVIDIA H100", expected "NVIDIA H200" as in line 1`},
		"drivers":               {ours + line(h200, "NVIDIA H200 (sm_90, driver 1.3, CUDA 13.0)", commit), "line 2: $FIRST: environment"},
		"commits":               {ours + line(h200, driver, "commit ba9876543210"), `line 2: $FIRST: commit "commit ba9876543210", expected "commit 0123456789ab" as in line 1`},
		"a peer elsewhere":      {ours + `{"operator":"gemm","name":"cublas","size":[256,256,256],"verdict":"PASS","median_ns":5,"device":"NVIDIA H100"}`, `line 2: cublas: device "NVIDIA H100"`},
	} {
		var f file
		if err := f.take(strings.NewReader(test.figures), "gemm"); err == nil || !strings.Contains(err.Error(), named(test.want)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected one line with %s", name, err, named(test.want))
		}
	}
	var f file
	if err := f.take(strings.NewReader(ours+ours), "gemm"); err != nil {
		t.Error(err)
	}
}

// What cannot be taken is an error, and nothing is written.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":    "no figure of a variant that was verified",
		"{\n": `line "{"`,
		`{"operator":"gemm","name":"cublas","size":[1,1,1],"verdict":"PASS","median_ns":5}`: "no figure of a variant",
	} {
		var f file
		if err := f.take(strings.NewReader(text), "gemm"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	if err := run(strings.NewReader(figures), t.TempDir(), "gemm_run", 0); err == nil {
		t.Error("a run without a file is taken")
	}
}

// An operator that is not named after its folder keeps its name and those of its rungs.
func TestOperatorOfAnotherName(t *testing.T) {
	line := `{"kind":"figure","operator":"spmv","name":"spmv_x","size":[8,8,16],"verdict":"PASS","median_ns":1000,"device":"NVIDIA H200"}`
	var x figure
	if err := json.Unmarshal([]byte(line), &x); err != nil {
		t.Fatal(err)
	}
	var f file
	if err := f.add(x, "sparse"); err != nil {
		t.Fatal(err)
	}
	got := f.Times[0]
	if got.Operator != "spmv" || got.Label != "spmv 8x8x16" || len(got.turns["spmv_x"]) != 1 {
		t.Errorf("%+v, expected spmv 8x8x16 with spmv_x", got)
	}
}
