package debug

import "testing"

// The values are those of JupyterLab 4.5's murmur2, in Node: murmur2(text, seed).
func TestMurmur2(t *testing.T) {
	for _, test := range []struct {
		text string
		seed uint32
		want uint32
	}{
		{"", 0x0, 0},
		{"", 0xc70f6907, 3990065800},
		{"a", 0xc70f6907, 2167009006},
		{"ab", 0x1, 1692487918},
		{"abc", 0xc70f6907, 3350977461},
		{"abcd", 0xffffffff, 1555318719},
		{"x := 1\ny := \"é😀\"", 0xc70f6907, 3838006695},
		{"func area(w, h int) int {\n\treturn w * h\n}", 0xc70f6907, 2510221472},
	} {
		if got := murmur2([]byte(test.text), test.seed); got != test.want {
			t.Errorf("%q with seed %#x: %d, want %d", test.text, test.seed, got, test.want)
		}
	}
}
