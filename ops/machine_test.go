package ops

import (
	"encoding/json"
	"strings"
	"testing"

	"warpbook/gpu/device"
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

// TestMachineCode holds machine.json against the committed PTX, and what is
// known of some rungs: the profiler's counts show which the assembler joins.
func TestMachineCode(t *testing.T) {
	var m MachineCode
	if err := json.Unmarshal(machineJSON, &m); err != nil {
		t.Fatal(err)
	}
	for file, entries := range m.Entries {
		text, err := sources.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range entries {
			if EntryHash(string(text), name) != e.Code {
				t.Logf("%s of %s has changed and is not compared with its machine code: run `go run ./ops/machine`", name, file)
			}
		}
	}
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	b := newBench(t, dev, Gemm, 42, 64, 64, 16)
	for name := range joined {
		c, err := b.Count(name)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, name+": neighbouring loads from shared memory are joined into") {
			t.Errorf("%s: no word of joined loads in %s", name, notes)
		}
	}
}
