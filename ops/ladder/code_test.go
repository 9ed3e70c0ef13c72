package ladder

import (
	"slices"
	"strings"
	"testing"
)

func TestCompiled(t *testing.T) {
	const source = "a\n#if __CUDA_ARCH__ >= 800\nb\n#if __CUDA_ARCH__ >= 900\nc\n#else\nd\n#endif\n#else // before\ne\n#endif\nf\n"
	for arch, want := range map[int]string{750: "a\ne\nf\n", 800: "a\nb\nd\nf\n", 900: "a\nb\nc\nf\n"} {
		if got := compiled(source, arch); got != want {
			t.Errorf("%d: %q, expected %q", arch, got, want)
		}
	}
}

func TestDiffMarksChanges(t *testing.T) {
	a := []string{"same\n", "old\n", "kept\n", "last"}
	b := []string{"same\n", "new\n", "kept\n", "more\n", "last\n"}
	want := "  same\n- old\n+ new\n  kept\n+ more\n  last\n"
	if got := diff(a, b); got != want {
		t.Errorf("diff:\n%swant:\n%s", got, want)
	}
}

func TestFolded(t *testing.T) {
	same := func(n int) (lines []string) {
		for range n {
			lines = append(lines, "  x\n")
		}
		return lines
	}
	change := []string{"+ y\n"}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{slices.Concat(same(9), change, same(9)), "  ... 5 unchanged lines\n" + strings.Repeat("  x\n", 4) + "+ y\n" + strings.Repeat("  x\n", 4) + "  ... 5 unchanged lines\n"},
		{slices.Concat(change, same(10), change), "+ y\n" + strings.Repeat("  x\n", 10) + "+ y\n"},
		{slices.Concat(change, same(11), change), "+ y\n" + strings.Repeat("  x\n", 4) + "  ... 3 unchanged lines\n" + strings.Repeat("  x\n", 4) + "+ y\n"},
		{nil, ""},
	} {
		if got := strings.Join(folded(c.lines), ""); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}
