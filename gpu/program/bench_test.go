//go:build linux

package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/gpu/clang"
)

// built builds a program for a benchmark.
func built(b *testing.B, text string) *Program {
	b.Helper()
	if os.Getenv(clang.FolderVariable) == "" {
		b.Skipf("needs %s", clang.FolderVariable)
	}
	p, err := Build(b.Context(), []Source{{Name: "x.cu", Text: text}}, Options{}, os.Stderr)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func runOnce(b *testing.B, p *Program) string {
	var out bytes.Buffer
	if err := p.Run(b.Context(), Settings{}, Streams{Out: &out, Err: &out}); err != nil {
		b.Fatal(err, &out)
	}
	return out.String()
}

// BenchmarkNull is the start and the end of a program that is built: the bar is 0.2 s.
func BenchmarkNull(b *testing.B) {
	p := built(b, "int main() { return cudaDeviceSynchronize(); }\n")
	before := processor()
	for b.Loop() {
		runOnce(b, p)
	}
	b.ReportMetric((processor()-before).Seconds()/float64(b.N), "cpu-s/op")
}

// BenchmarkBuild compiles and links a program of about 100 lines, with the library of C++ built
// before: the bar is 3 s.
func BenchmarkBuild(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "course", "matrix_multiply.cu"))
	if err != nil {
		b.Fatal(err)
	}
	built(b, string(text))
	before := processor()
	for b.Loop() {
		builds++
		built(b, fmt.Sprintf("%s\n// %d of %d\n", text, builds, os.Getpid())) // not in the cache
	}
	b.ReportMetric((processor()-before).Seconds()/float64(b.N), "cpu-s/op")
}

var builds int // in this process

// processor is the processor time of this process and of those that it has waited for: a busy
// machine does not change it much.
func processor() (total time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}

// BenchmarkLaunch is 10^4 launches of an empty kernel without a synchronisation, and without the start of
// the program: the bar is 20 us each.
func BenchmarkLaunch(b *testing.B) {
	p := built(b, `#include <chrono>
#include <cstdio>
__global__ void empty() {}
int main() {
  empty<<<1, 1>>>();
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10000; i++) empty<<<1, 1>>>();
  cudaDeviceSynchronize();
  printf("%g", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 10000);
}
`)
	var sum, us float64
	before := processor()
	for b.Loop() {
		fmt.Sscan(strings.TrimSpace(runOnce(b, p)), &us) // a number
		sum += us
	}
	b.ReportMetric(sum/float64(b.N), "us/launch")
	b.ReportMetric((processor()-before).Seconds()*100/float64(b.N), "cpu-us/launch") // 1e6 us, 1e4 launches
}
