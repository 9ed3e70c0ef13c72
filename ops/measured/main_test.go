package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const figures = `{"operator":"gemm","name":"cpu","size":[256,256,256],"verdict":"FAIL"}
{"operator":"gemm","name":"gemm_wide","size":[256,256,256],"verdict":"PASS","median_ns":27670.4,"device":"NVIDIA H200","gpu":{"clock_mhz":1965},"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z"}}
{"operator":"gemm","name":"gemm_wide","size":[64,4096,4096],"verdict":"PASS","median_ns":100000,"device":"NVIDIA H200","gpu":{"clock_mhz":1980},"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z"}}
{"operator":"gemm","name":"cublas_sgemm","size":[64,4096,4096],"verdict":"PASS","median_ns":80000}
{"operator":"gemm","name":"gemm_warp_tile","size":[3072,3072,3072],"verdict":"PASS","median_ns":1442000,"device":"NVIDIA H200","gpu":{"clock_mhz":1980},"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z"}}
{"operator":"gemm","name":"limit_product","size":[256,256,256],"verdict":"PASS","median_ns":500,"gflops":65230,"note":"in registers"}
{"operator":"gemm","name":"limit_product","size":[64,4096,4096],"verdict":"PASS","median_ns":500,"gflops":63000,"note":"too short to be the roof"}
{"operator":"gemm","name":"cublas_sgemm","size":[256,256,256],"verdict":"PASS","median_ns":6700}
{"operator":"gemm","name":"cublas_sgemm","size":[256,256,256],"verdict":"PASS","median_ns":6480}
{"operator":"gemm_tf32","name":"gemm_tf32_wmma","size":[4096,4096,4096],"verdict":"PASS","median_ns":500000}
{"operator":"gemm_tf32","name":"cublas_tf32","size":[4096,4096,4096],"verdict":"PASS","median_ns":250000}
{"operator":"gemm_tf32","name":"cublas_tf32","size":[512,512,512],"verdict":"PASS","median_ns":2000}
{"operator":"gemm_tf32","name":"gemm_tf32_wmma","size":[512,512,512],"verdict":"PASS","median_ns":1000}
{"operator":"gemm_batched","name":"gemm_batched_strided","size":[64,512,512,512],"verdict":"PASS","median_ns":400000}
{"operator":"gemm_bias_relu","name":"gemm_bias_relu","size":[4096,4096,4096],"verdict":"PASS","median_ns":2700000}
`

// Figures become a file, a line for each size, and the tables of the notes. 3072, where
// the bench was ended before its peers had a turn, is left out.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	path, notes := filepath.Join(dir, "testdata", "run.json"), filepath.Join(dir, "gemm_notes.md")
	for name, text := range map[string]string{
		path:  `{"title": "a run", "roofs": {"float32_tflops": 70, "memory_tbps": 3}, "times": [{"size": [1, 1, 1], "tflops": {"old": 1}}]}`,
		notes: "before\n\n<!-- run square -->\n| old |\n\nbetween\n\n<!-- run oblong -->\n| old |\n\nafter\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(strings.NewReader(figures), dir, "run", 3.5); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		path: `{
 "title": "a run",
 "device": "NVIDIA H200, driver 1.2, 1965 to 1980 MHz",
 "date": "2026-11-22",
 "method": "a graph; data seed 1; the median of 1 to 2 turns, ours and theirs alternately",
 "roofs": {
  "float32_tflops": 65.2,
  "memory_tbps": 3.5,
  "method": "float32: in registers, in the same run; memory: limit_read of notebooks/results/h200/01-reduce.json"
 },
 "times": [
  {"size":[256,256,256],"us":{"cublas_sgemm":6.59,"gemm_wide":27.67}},
  {"label":"bias relu 4096","size":[4096,4096,4096],"us":{"gemm_bias_relu":2700}},
  {"label":"TF32 512","size":[512,512,512],"us":{"cublas":2,"wmma":1}},
  {"label":"TF32 4096","size":[4096,4096,4096],"us":{"cublas":250,"wmma":500}},
  {"size":[64,4096,4096],"us":{"cublas_sgemm":80,"gemm_wide":100}},
  {"label":"batched 64x512x512x512","size":[64,512,512,512],"us":{"strided":400}}
 ]
}
`,
		notes: `before

<!-- run square -->
| rung | 256 | bias relu 4096 | TF32 512 | TF32 4096 |
| --- | --- | --- | --- | --- |
| gemm_wide | 1.21 | - | - | - |
| gemm_bias_relu | - | 50.9 | - | - |
| wmma | - | - | 268 | 275 |
| cublas_sgemm | 5.09 | - | - | - |
| cublas | - | - | 134 | 550 |
| ours / theirs | 0.24 | - | 2.00 | 0.50 |

between

<!-- run oblong -->
| rung | 64x4096x4096 | batched 64x512x512x512 |
| --- | --- | --- |
| gemm_wide | 21.5 | - |
| strided | - | 42.9 |
| cublas_sgemm | 26.8 | - |
| ours / theirs | 0.80 | - |

after
`} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%v, %s:\n%s\nexpected\n%s", err, name, got, want)
		}
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
		if err := f.take(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	if err := run(strings.NewReader(figures), t.TempDir(), "run", 0); err == nil {
		t.Error("a run without a file is taken")
	}
}
