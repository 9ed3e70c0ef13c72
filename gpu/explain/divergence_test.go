package explain

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
)

// branching stores x[i] of the threads that a condition on the thread's number chooses.
func branching(condition string) string {
	return fmt.Sprintf(`.version 7.8
.target sm_75
.address_size 64
.file 1 "branch.cu"
.visible .entry branching(.param .u64 x, .param .u64 y)
{
	.reg .b32 %%r<8>;
	.reg .b64 %%d<8>;
	.reg .pred %%p;
	.loc 1 2 1
	mov.u32 %%r0, %%tid.x;
	%s
	.loc 1 3 1
	@%%p bra done;
	ld.param.u64 %%d0, [x];
	ld.param.u64 %%d1, [y];
	mul.wide.u32 %%d2, %%r0, 4;
	add.u64 %%d0, %%d0, %%d2;
	add.u64 %%d1, %%d1, %%d2;
	.loc 1 4 1
	ld.global.u32 %%r1, [%%d0];
	st.global.u32 [%%d1], %%r1;
done:
	ret;
}
`, condition)
}

func explainBranch(t *testing.T, condition string) (*Report, gpu.Counters) {
	return explained(t, "branch.ptx", branching(condition), "branching", gpu.Dim{X: 128},
		func(x, y gpu.Buffer) []any { return []any{x, y} }, Source{"branch.cu", "a\nb\nif (tid % 2 == 0)\n"})
}

// TestDivergence explains a branch of every other lane; a warp at the edge of the data has
// nothing to explain.
func TestDivergence(t *testing.T) {
	r, c := explainBranch(t, "and.b32 %r2, %r0, 1; setp.ne.u32 %p, %r2, 0;")
	f := find(t, r, Divergence)
	if f.At != "branch.cu:3" || f.Text != "if (tid % 2 == 0)" || f.Cost != 2*c.DivergentBranches || f.Cost != 8 || f.Best != 4 || len(f.Remedies) != 1 {
		t.Errorf("%+v, expected 8 passes, 4 at best", f)
	}
	if title := f.Title(); title != "divergent branch at branch.cu:3 (bra; PTX 14): 8 passes, 4 at best" {
		t.Errorf("title %q", title)
	}
	if notes := strings.Join(f.Notes(), "\n"); !strings.Contains(notes, "lanes 1, 3, 5") || !strings.Contains(notes, "go on, 4 times") || !strings.Contains(notes, "its warps take 4 instead of 8 passes, verified on 1 patterns") {
		t.Errorf("notes %q", notes)
	}
	_, rows, text, level := f.Cells()
	if len(rows) != 1 || rows[0] != "4 times" || text[0][1] != "j" || level[0][1] != 2 || level[0][0] != 1 {
		t.Errorf("picture %q %q %v", rows, text, level)
	}
	r, c = explainBranch(t, "setp.ge.u32 %p, %r0, 100;")
	if c.DivergentBranches != 1 {
		t.Errorf("%d divergent branches, expected that of the last warp", c.DivergentBranches)
	}
	for _, f := range r.Findings {
		t.Errorf("%s: expected no finding at the edge", f.Title())
	}
}

// records reads two of the three words of each thread's record, or only one.
func records(second string) string {
	return fmt.Sprintf(`.version 7.8
.target sm_75
.address_size 64
.file 1 "records.cu"
.visible .entry records(.param .u64 x, .param .u64 y)
{
	.reg .b32 %%r<8>;
	.reg .b64 %%d<8>;
	.loc 1 1 1
	mov.u32 %%r0, %%tid.x;
	ld.param.u64 %%d0, [x];
	ld.param.u64 %%d1, [y];
	mul.wide.u32 %%d2, %%r0, 12;
	add.u64 %%d0, %%d0, %%d2;
	mul.wide.u32 %%d3, %%r0, 4;
	add.u64 %%d1, %%d1, %%d3;
	.loc 1 2 1
	ld.global.u32 %%r1, [%%d0];
	%s
	.loc 1 3 1
	st.global.u32 [%%d1], %%r1;
	ret;
}
`, second)
}

// TestRecords names a structure of arrays where lanes read several members of records, and
// not where they read one word in three.
func TestRecords(t *testing.T) {
	for second, want := range map[string]bool{"ld.global.u32 %r2, [%d0+4];": true, "": false} {
		r, _ := explained(t, "records.ptx", records(second), "records", gpu.Dim{X: 64}, func(x, y gpu.Buffer) []any { return []any{x, y} })
		f := find(t, r, Uncoalesced)
		if len(f.Remedies) != 1 || strings.Contains(f.Remedies[0].Change, "records of 12 bytes in an array of its own (a structure of arrays)") != want || f.Remedies[0].After != f.Best {
			t.Errorf("%q: %v, expected a structure of arrays: %v", second, f.Remedies, want)
		}
	}
}
