package names

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu/ptx"
)

// of is the source of an entry that was made of these lines.
func of(text string) Source {
	lines := strings.Split(text, "\n")
	return Source{Files: map[int]string{1: "dir/a.cu"}, Code: []ptx.Instruction{{Source: ptx.Source{File: 1, Line: len(lines)}}},
		Line: func(place string) string {
			var n int
			if _, err := fmt.Sscanf(place, "a.cu:%d", &n); err != nil || n < 1 || n > len(lines) {
				return ""
			}
			return lines[n-1]
		}}
}

func TestElement(t *testing.T) {
	for _, c := range []struct {
		text   string
		bytes  uint64
		offset int64
		want   string
	}{
		{"__shared__ float s[256];", 1024, 640, "s[160]"},
		{"__shared__ volatile double s[4][6];", 192, 8 * 21, "s[3][3]"},
		{"#define N 16\n__shared__ int s[N][N + 1];", 16 * 17 * 4, 4 * 18, "s[1][1]"},
		{"constexpr int n = 4 * 8;\n__shared__ float s[n];", 128, 124, "s[31]"},
		{"extern __shared__ float s[];", 0, 12, "s[3]"},
		{"__shared__ float s[256];", 512, 0, ""}, // the PTX has another size
		{"__shared__ thing s[256];", 1024, 0, ""},
		{"__shared__ float s[256];", 1024, -4, ""},
		{"float s[256];", 1024, 0, ""},
	} {
		if got := of(c.text).Element("s", c.bytes, c.offset); got != c.want {
			t.Errorf("%s, byte %d: %q, expected %q", c.text, c.offset, got, c.want)
		}
	}
	if got := (Source{}).Element("s", 1024, 0); got != "" {
		t.Errorf("%q without a source", got)
	}
}

func TestUnwritten(t *testing.T) {
	for text, want := range map[string]string{
		"__global__ void f(int *x) {\nint sum;\nx[0] = sum;":            "sum",
		"__global__ void f(int *x) {\nint sum = 0;\nx[0] = sum;":        "",
		"__global__ void f(int *x) {\nint a, b;\nx[0] = a + b;":         "", // two are in doubt
		"__global__ void f(int *x) {\nint a = 1, b;\nx[0] = a + b;":     "b",
		"int sum;\n__global__ void f(int *x) {\nx[0] = sum;":            "",
		"__global__ void f(int *x) {\n__shared__ int sum;\nx[0] = sum;": "",
	} {
		if got := of(text).Unwritten(ptx.Source{File: 1, Line: 3}); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}
