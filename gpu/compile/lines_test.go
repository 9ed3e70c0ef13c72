package compile_test

import (
	"fmt"
	"testing"

	"warpbook/gpu/compile"
)

// Lines with code are known before the source is compiled: not declarations outside of
// functions, comments, braces or shared memory.
func TestCodeLines(t *testing.T) {
	const cuda = `// a { comment }
struct P { int n; };
__device__ int twice(int a) { return 2 * a; }
__global__ void f(int* x,
                  int n)
{
  __shared__ int s[4];
  // nothing; here
  if (n > 0)
  {
    x[0] = twice(
      n);
  }
  else
    x[1] = 2;
}
int host = 3;`
	if got, want := fmt.Sprint(compile.CodeLines(cuda, false, 2)), "[4 10 12 13 16 17]"; got != want {
		t.Errorf("CUDA: %s, want %s", got, want)
	}
	const text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() {\n.reg .u32 %r;\nmov.u32 %r, 1;\n\nL: ret;\n}"
	if got, want := fmt.Sprint(compile.CodeLines(text, true, 2)), "[7 9]"; got != want {
		t.Errorf("PTX: %s, want %s", got, want)
	}
	if got := compile.CodeLines("add", true, 2); got != nil {
		t.Errorf("half a PTX: %v", got)
	}
}
