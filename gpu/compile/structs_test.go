package compile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

const structSource = `struct __align__(16) Shape { float x, y; int n; /* int m; */ };
typedef struct { const Shape* next; unsigned char tag[4]; Shape shape; } Node;
struct Other { float4 v; };
struct Derived : Shape { int more; };
struct Self { int a; Self b[2]; };
struct Large { int a[2000000000]; };
`

// TestStructs: a struct of as many bytes and other members is refused, with both
// their names.
func TestStructs(t *testing.T) {
	type shape struct {
		X, Y float32
		N    int32
	}
	type swapped struct {
		X float32
		N int32
		Y float32
	}
	type short struct{ X, Y float32 }
	type node struct {
		Next  gpu.Buffer
		Tag   [4]uint8
		Shape shape
	}
	m := &Module{Source: structSource}
	for _, c := range []struct {
		typ  string
		arg  any
		want string
	}{
		{"Shape", shape{}, ""}, {"const struct Shape", shape{}, ""}, {"Node", node{}, ""},
		{"Node", struct {
			Next uint64
			Tag  uint8
			More [3]int8
			shape
		}{}, ""},
		{"Shape", swapped{}, "compile: launch k: argument 0, p: invalid argument: member 2 of compile.swapped is int32, expected that of Shape, float"},
		{"Shape", short{}, "compile: launch k: argument 0, p: invalid argument: compile.short has 2 members, expected the 3 of Shape"},
		{"Node", shape{}, "compile: launch k: argument 0, p: invalid argument: member 1 of compile.shape is float32, expected that of Node, Shape*"},
		// the device checks members of unknown types
		{"Other", short{}, ""}, {"Self", short{}, ""}, {"Large", short{}, ""}, {"Derived", short{}, ""}, {"None", short{}, ""}, {"Shape", struct{ N int }{}, ""}, {"Shape", []byte{1}, ""}, {"Shape", gpu.TensorMap{}, ""}, {"Shape", nil, ""},
	} {
		e := &Entry{module: m, name: "k", head: "__global__ void", params: []parameter{{c.typ, "p"}}}
		for range 2 { // the second time from memory
			if err := e.checkTypes([]any{c.arg}); (err == nil) != (c.want == "") || err != nil && (err.Error() != c.want || !errors.Is(err, gpu.ErrArgument)) {
				t.Errorf("%s, %T: %v, want %q", c.typ, c.arg, err, c.want)
			}
		}
	}
}

// TestStructOfCell is the same with the compiler and a launch.
func TestStructOfCell(t *testing.T) {
	needNVRTC(t, "")
	m, err := CUDA(context.Background(), "x.cu", strings.Split(structSource, "struct Self")[0]+"__global__ void k(Shape s, float* y) { y[threadIdx.x] = s.x + s.n; }", Options{})
	if err != nil {
		t.Fatal(err)
	}
	dev, y := emulator(t, gpu.Float32)
	k := entry(t, m, "k")
	type wrong struct {
		X    float32
		N    int32
		Y, Z float32
	}
	err = k.Launch(dev, one, warp, wrong{}, y)
	if want := "compile: launch k: argument 0, s: invalid argument: member 2 of compile.wrong is int32, expected that of Shape, float"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
