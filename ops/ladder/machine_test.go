package ladder

import (
	"strings"
	"testing"
)

// TestDifferences tells joined accesses and spills from what differs for other
// reasons.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name         string
		machine, ptx map[string]int
		want         []string
	}{
		{"an unrolled loop", map[string]int{"LDS": 8, "STS": 4, "LDG.128": 2}, map[string]int{"LDS": 2, "STS": 1, "LDG.128": 1}, nil},
		{"joined loads", map[string]int{"LDS": 1, "LDS.64": 2, "LDS.128": 8}, map[string]int{"LDS": 40},
			[]string{"neighbouring loads from shared memory are joined into 2 LDS.64 and 8 LDS.128"}},
		{"spills", map[string]int{"LDL": 3, "STL.64": 1}, nil, []string{"spilled by 4 accesses"}},
		{"a local array", map[string]int{"LDL": 3, "STL": 3}, map[string]int{"LDL": 1}, nil},
	} {
		got := MachineEntry{Accesses: c.machine}.differences(c.ptx)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%s: %q, expected %q", c.name, got[i], c.want[i])
			}
		}
	}
}

// TestAccessesOf counts the accesses of PTX.
func TestAccessesOf(t *testing.T) {
	const text = `.visible .entry a(
)
{
	ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
	@%p1 ld.shared.f32 	%f1, [%r1];
	ld.volatile.shared.f32 %f1, [%r1];
	ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1], %rd2;
	st.shared.v2.u32 [%r1], {%r2, %r3};
	st.global.f64 [%rd1], %fd1;
	st.local.u8 [%rd1], %rs1;
	ld.param.u64 %rd1, [a_param_0];
}
`
	got := accessesOf(text, "a")
	want := map[string]int{"LDG.128": 2, "LDS": 2, "STS.64": 1, "STG.64": 1, "STL": 1}
	if len(got) != len(want) {
		t.Errorf("%v, expected %v", got, want)
	}
	for opcode, n := range want {
		if got[opcode] != n {
			t.Errorf("%d of %s, expected %d", got[opcode], opcode, n)
		}
	}
}

// The hash is of the code, not of where it stands.
func TestEntryHash(t *testing.T) {
	hash := func(text string) string {
		return EntryHash(text, "a")
	}
	const code = ".visible .entry a(\n)\n{\n\t.loc\t1 3 0\n\n\tadd.u32 %r1, %r2, 1;\n$L__BB3_1:\n\tbra $L__BB3_1;\n}\n"
	if hash(code) != hash(strings.NewReplacer("1 3 0", "1 9 4, function_name $L__info_string1, inlined_at 1 2 3", "BB3", "BB7", "\n\n", "\n").Replace(code)) {
		t.Error("it depends on lines or on other entries")
	}
	if hash(code) == hash(strings.Replace(code, ", 1;", ", 2;", 1)) {
		t.Error("it does not depend on the code")
	}
}

// Inline assembly may close a brace at the start of a line: the entry goes on, and what
// follows counts.
func TestEntryWithAssembly(t *testing.T) {
	entry := func(width string) string {
		return ".visible .entry a(\n)\n{\n\t// begin inline asm\n\t{ add.f16x2 %r1,%r2,%r3;\n}\n\t// end inline asm\n" +
			"\tst.global" + width + ".u32 [%rd1], %r1;\n\tret;\n\n}\n.visible .entry b(\n)\n{\n\tst.global.u64 [%rd1], %rd2;\n\tret;\n}\n"
	}
	if counts := accessesOf(entry(".v4"), "a"); counts["STG.128"] != 1 || len(counts) != 1 {
		t.Errorf("accesses %v, expected one STG.128", counts)
	}
	if EntryHash(entry(".v4"), "a") == EntryHash(entry(".v2"), "a") {
		t.Error("a change behind inline assembly does not change the hash")
	}
}
