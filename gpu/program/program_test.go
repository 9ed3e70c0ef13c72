//go:build linux

package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/gpu/clang"
	"warpbook/gpu/emu"
)

// A strict run ends at the first use of what is undefined.
func TestStrict(t *testing.T) {
	needZig(t)
	text, err := os.ReadFile("testdata/bad/never_written.cu")
	if err != nil {
		t.Fatal(err)
	}
	status, out, errs := run(t.Context(), t, "x.cu", string(text), Settings{Strict: true})
	if status != 1 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "uninitialized read") {
		t.Errorf("status %d, output %q, errors %q", status, out, errs)
	}
}

// Refused by name where there is no ziglang.
func TestUnavailable(t *testing.T) {
	t.Setenv(clang.FolderVariable, t.TempDir())
	_, err := Build(t.Context(), []Source{{Name: "x.cu", Text: "int main() {}"}}, Options{}, os.Stderr)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "python3 -m pip install ziglang==") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected one line with the command that installs ziglang", err)
	}
}

// An interrupt ends a program that never ends, and what it started.
func TestInterrupt(t *testing.T) {
	needZig(t)
	const text = `#include <cstdio>
#include <unistd.h>
__global__ void forever(volatile int *x) { while (*x == 0) {} }
int main(int argc, char **) {
  if (fork() == 0) for (;;) sleep(1);
  int *x;
  cudaMalloc(&x, 4);
  cudaMemset(x, 0, 4);
  puts("runs");
  fflush(stdout);
  if (argc > 2) cudaMallocManaged(&x, 4), *x = 0, forever<<<1, 1>>>(x);
  else if (argc > 1) forever<<<1, 1>>>(x), cudaDeviceSynchronize();
  for (;;) {}
}
`
	p, err := Build(t.Context(), []Source{{Name: "x.cu", Text: text}}, Options{}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"kernel"}, {"kernel", "for the host"}} {
		ctx, cancel := context.WithCancel(t.Context())
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx, Settings{Args: args}, Streams{Out: out, Err: out}) }()
		buffer := make([]byte, 8)
		if _, err := in.Read(buffer); err != nil {
			t.Fatal(err)
		}
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v: %v", args, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%v: an interrupt does not end the program", args)
		}
		out.Close()
		in.Close()
	}
}

func TestHasMain(t *testing.T) {
	for text, want := range map[string]bool{
		"int main() {}": true, "__global__ void k() {}\nint\nmain(int argc, char **argv)\n{\n}": true, "auto main() -> int { return 0; }": true,
		"// int main() {}\n__global__ void k() {}": false, "/* int main() {} */": false, `const char *s = "int main() {}";`: false,
		"__global__ void domain(int n) {}": false, "int mainly() {}": false, "": false,
	} {
		if got := HasMain(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// An edit of a header makes another program, whatever the name of its folder.
func TestHeaderEdit(t *testing.T) {
	needZig(t)
	folder := filepath.Join(t.TempDir(), "my course #1 at $2")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(folder, "u.h"), []byte("#define TEXT \""+want+"\"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		source := Source{Name: "x.cu", Text: "#include <cstdio>\n#include \"u.h\"\nint main() { puts(TEXT); }\n", Folder: folder}
		p, err := Build(t.Context(), []Source{source}, Options{}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := p.Run(t.Context(), Settings{}, Streams{Out: &out, Err: &out}); err != nil || out.String() != want+"\n" {
			t.Errorf("%q, %v, expected %q", &out, err, want)
		}
	}
}

// A mistake in the second of two sources has that source's name.
func TestErrorOfSecondSource(t *testing.T) {
	needZig(t)
	_, err := Build(t.Context(), []Source{{Name: "a.cu", Text: "int main() {}\n"}, {Name: "b.cu", Text: "\nint f() { return x; }\n"}}, Options{}, os.Stderr)
	if err == nil || !strings.HasPrefix(err.Error(), "compile: b.cu:2:18: ") {
		t.Errorf("%v, expected an error at b.cu:2:18", err)
	}
}

// A program that ends without the device ends what the device still runs, as on a GPU.
func TestEndWithoutDevice(t *testing.T) {
	needZig(t)
	const text = `#include <unistd.h>
__global__ void forever(volatile long *x) { for (long i = 0; i < 1L << 60; i++) *x = i; }
int main(int argc, char **) {
  long *x;
  cudaMalloc(&x, 8);
  for (int i = 0; i < 100; i++) forever<<<1, 1>>>(x);
  if (argc == 1) _exit(3);
  *(volatile char *)1 = 0;
}
`
	p, err := Build(t.Context(), []Source{{Name: "x.cu", Text: text}}, Options{}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for status, args := range map[int][]string{3: nil, 128 + int(syscall.SIGSEGV): {"crash"}} {
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- p.Run(t.Context(), Settings{Args: args}, Streams{Out: &out, Err: &out}) }()
		select {
		case err := <-ended:
			if exit := (*ExitError)(nil); !errors.As(err, &exit) || exit.Status != status {
				t.Errorf("%v, expected status %d", err, status)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("status %d: the device goes on", status)
		}
	}
}

// Output that a slow reader has not yet taken when the program ends is not lost.
func TestSlowReader(t *testing.T) {
	needZig(t)
	const text = "#include <cstdio>\nint main() { for (int i = 0; i < 10000; i++) puts(\"line\"); }\n"
	p, err := Build(t.Context(), []Source{{Name: "x.cu", Text: text}}, Options{}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	out := &slowWriter{}
	if err := p.Run(t.Context(), Settings{}, Streams{Out: out, Err: out}); err != nil || out.n != 50000 {
		t.Errorf("%d bytes of 50000, %v", out.n, err)
	}
}

type slowWriter struct{ n int }

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(100 * time.Millisecond)
	w.n += len(p)
	return len(p), nil
}

// Freed memory of both sides is the system's again, and no longer the program's.
func TestManagedMemoryIsReturned(t *testing.T) {
	needZig(t)
	const text = `#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
void used(const char *when) {
  struct stat s;
  fstat(atoi(getenv("WARPBOOK_CHANNEL")), &s); // its first number is the memory's
  printf("%s: %d MiB\n", when, (int)(s.st_blocks / 2048 / 8 * 8));
}
int main() {
  char *p, *q;
  for (int i = 0; i < 4; i++) {
    cudaMallocManaged(&p, 16 << 20);
    memset(p, 1, 16 << 20);
    cudaMallocHost(&q, 8 << 20);
    memset(q, 1, 8 << 20);
    if (i == 3) break;
    cudaFree(p);
    cudaFreeHost(q);
  }
  used("held");
  cudaDeviceReset();
  used("reset");
  fflush(stdout);
  q[5] = 1;
}
`
	status, out, errs := run(t.Context(), t, "x.cu", text, Settings{})
	if out != "held: 24 MiB\nreset: 0 MiB\n" || status != 128+int(syscall.SIGSEGV) || !strings.Contains(errs, "x.cu:25: segmentation fault") {
		t.Errorf("status %d, output %q, errors %q", status, out, errs)
	}
}

// Of what kernels print without a synchronisation the newest is kept.
func TestPrintedIsBounded(t *testing.T) {
	var p printed
	for i := range 18 {
		p.Write(bytes.Repeat([]byte{byte(i)}, 1<<20))
	}
	if text := p.text.Bytes(); len(text) != mostPrinted || text[0] != 2 || text[len(text)-1] != 17 || p.lost != 2<<20 {
		t.Errorf("%d bytes, %d lost", len(text), p.lost)
	}
	var out bytes.Buffer
	r := &reporter{out: &out, said: map[string]bool{}}
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	r.ending(&server{printed: p, dev: dev.(*emu.Device)}, true)
	if !strings.Contains(out.String(), "the first 2097152 bytes that kernels printed are lost") {
		t.Error(out.String())
	}
}

// Samples name headers beside them in <angles>, and those of a folder that the user gives.
func TestHeaderFolders(t *testing.T) {
	needZig(t)
	beside, common := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(beside, "own.h"): "#include <shared.h>\n#define OWN SHARED\n", filepath.Join(common, "shared.h"): "#define SHARED \"shared\"\n",
		filepath.Join(beside, "stdio.h"): "#error not the system's\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	source := Source{Name: "x.cu", Text: "#include <stdio.h>\n#include <own.h>\nint main() { printf(\"%s %d\\n\", OWN, N); }\n", Folder: beside}
	p, err := Build(t.Context(), []Source{source}, Options{Include: []string{common}, Define: []string{"N=3"}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Run(t.Context(), Settings{}, Streams{Out: &out, Err: &out}); err != nil || out.String() != "shared 3\n" {
		t.Errorf("%q, %v", &out, err)
	}
	for want, o := range map[string]Options{"-I nowhere: not a folder": {Include: []string{"nowhere"}}, "-D 1x: not a macro": {Define: []string{"1x"}}} {
		if _, err := Build(t.Context(), []Source{source}, o, os.Stderr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// A program that waits for a line gets one, and one that reads nothing asks for nothing.
func TestAsk(t *testing.T) {
	needZig(t)
	const text = `#include <cstdio>
#include <unistd.h>
int main(int argc, char **) {
  if (argc == 1) return 0;
  char name[20];
  int sum = 0, n;
  printf("name? "), fflush(stdout);
  name[argc == 2 ? 0 : read(0, name, 20) - 1] = 0;
  if (argc == 2 && scanf("%19s", name) != 1) return 2;
  while (scanf("%d", &n) == 1) sum += n;
  printf("%s %d\n", name, sum);
}
`
	p, err := Build(t.Context(), []Source{{Name: "x.cu", Text: text}}, Options{}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{{nil, ""}, {[]string{"read"}, "name? warp 42\n"}, {[]string{"without", "stdio"}, "name? warp 42\n"}} {
		lines := []string{"warp", "40", "2"}
		var out bytes.Buffer
		asked := 0
		ask := func() (string, error) {
			asked++
			if asked > len(lines) {
				return "", errors.New("no more")
			}
			return lines[asked-1], nil
		}
		if err := p.Run(t.Context(), Settings{Args: c.args}, Streams{Out: &out, Err: &out, Ask: ask}); err != nil || out.String() != c.want {
			t.Errorf("%q, %v, expected %q", &out, err, c.want)
		}
		if c.args == nil && asked != 0 {
			t.Errorf("it asked %d times", asked)
		}
	}
}

// Where the system does not show what a program waits for, standard input ends at once: a
// program that reads would wait for ever. No process has the number here.
func TestAskUnseen(t *testing.T) {
	i, err := newInput(func() (string, error) { return "", errors.New("nobody waits") })
	if err != nil {
		t.Fatal(err)
	}
	defer i.from.Close()
	ended := make(chan struct{})
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		i.serve(1<<30, ended)
	}()
	i.from.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := i.from.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes and %v, expected the end of the file", n, err)
	}
	close(ended)
	<-returned
}

// TestLibcu: programs include libcu++ from the folder of its wheel.
func TestLibcu(t *testing.T) {
	needZig(t)
	folder := filepath.Join(os.Getenv("WARPBOOK_NVRTC"), "nvidia", "cuda_cccl", "include")
	if _, err := os.Stat(filepath.Join(folder, "cuda", "atomic")); err != nil {
		t.Skip("needs WARPBOOK_NVRTC with the wheel nvidia-cuda-cccl-cu12")
	}
	const text = `#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/array>
__device__ cuda::atomic<int, cuda::thread_scope_device> total{0};
__global__ void count(int *x) {
  cuda::atomic_ref<int, cuda::thread_scope_device> each(*x);
  cuda::std::array<int, 2> steps{1, 2};
  each.fetch_add(steps[0], cuda::memory_order_relaxed);
  if (total.fetch_add(steps[1]) == 510) x[1] = total.load();
}
int main() {
  int *x;
  cudaMallocManaged(&x, 2 * sizeof(int));
  *x = 0;
  count<<<4, 64>>>(x);
  cudaDeviceSynchronize();
  printf("%d %d\n", x[0], x[1]);
  cudaFree(x);
}
`
	p, err := Build(t.Context(), []Source{{Name: "libcu.cu", Text: text}}, Options{Include: []string{folder}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := p.Run(t.Context(), Settings{}, Streams{Out: &out, Err: &out}); err != nil || out.String() != "256 512\n" {
		t.Errorf("%v: %q", err, out.String())
	}
}
