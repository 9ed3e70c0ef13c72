package loop

import (
	"fmt"
	"strings"
	"testing"
)

// sass are lines as cuobjdump prints them, 16 bytes each.
func sass(texts ...string) []string {
	var lines []string
	for i, text := range texts {
		lines = append(lines, fmt.Sprintf("        /*%04x*/                   %s ;                  /* 0x0 */", 16*i, text), "                /* 0x0 */")
	}
	return lines
}

func TestOfMachineCode(t *testing.T) {
	code := SASS(sass(
		"MOV R1, RZ",
		"FADD R2, R2, R3",            // the outer loop
		"FFMA R9, R8, R7, R9",        // the inner loop
		"@P1 BRA 0x60",               // over two that only an edge needs
		"LDS R4, [R5]",               //
		"FADD R4, R4, R4",            //
		"FFMA R9, R8.reuse, R10, R9", // 0x60
		"@P0 BRA 0x20",               //
		"@!P2 BRA 0x10",              //
		"FFMA R1, R2, R3, R4",        // a loop that multiplies less
		"@P0 BRA 0x90",               //
		"EXIT",                       //
		"BRA 0xc0",                   // where the code of an entry ends
	))
	l := Of(code)
	if l.Instructions != 4 || l.All != 6 || l.FMA != 2 || l.Share() != 0.5 {
		t.Errorf("%d of %d instructions, %d multiply, expected 4 of 6 and 2", l.Instructions, l.All, l.FMA)
	}
	want := "FFMA R9, R8, R7, R9|@P1 BRA 0x60|LDS R4, [R5]|FADD R4, R4, R4|FFMA R9, R8.reuse, R10, R9|@P0 BRA 0x20"
	if got := strings.Join(l.Excerpt, "|"); got != want {
		t.Errorf("excerpt %s, expected %s", got, want)
	}
}

func TestOfPTX(t *testing.T) {
	l := Of(PTX("\t.reg .b32 %r<9>;\n\t.loc 1 20 3\n\tmov.u32 \t%r1, 0;\n$L__BB0_1:\n\tfma.rn.f32 \t%f1, %f2, %f3, %f1;\n\t@%p1 bra \t$L__BB0_2;\n" +
		"\tld.shared.f32 \t%f2, [%r1];\n$L__BB0_2:\n\tadd.s32 \t%r1, %r1, 1;\n\t@%p2 bra \t$L__BB0_1;\n\tret;\n"))
	if l.Instructions != 4 || l.FMA != 1 || l.Excerpt[0] != "fma.rn.f32 %f1, %f2, %f3, %f1" {
		t.Errorf("%+v, expected 4 instructions, one of which multiplies", l)
	}
}

// A loop on tensor cores is the work of a kernel that multiplies float32 beside, and
// atomics are that of one without products.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		lines  []string
		work   int
		opcode string
	}{
		{[]string{"FFMA R1, R2, R3, R4", "FFMA R1, R2, R3, R4", "@P0 BRA 0x0", "HMMA.16816.F32.BF16 R4, R8, R12, R4", "@P1 BRA 0x30"}, 1, "HMMA"},
		{[]string{"@!P0 HGMMA.64x256x16.F32.BF16 R4, gdesc[UR8], R4", "@P0 BRA 0x0"}, 1, "HGMMA"},
		{[]string{"ATOMS.POPC.INC.32 RZ, [R4]", "@P1 ATOMS.ADD RZ, [R4], R5", "@P0 BRA 0x0"}, 2, "ATOMS"},
	} {
		if l := Of(SASS(sass(c.lines...))); l.FMA != c.work || l.Opcode() != c.opcode {
			t.Errorf("%q: %d of %s, expected %d of %s", c.lines, l.FMA, l.Opcode(), c.work, c.opcode)
		}
	}
	l := Of(PTX("$L__BB0_1:\n\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}, {%r1}, {%r2}, {%f1};\n\tatom.shared.add.u32 %r1, [%r2], 1;\n\t@%p2 bra $L__BB0_1;\n\tret;\n"))
	if l.FMA != 1 || l.Work != "tensor" || l.Opcode() != "mma" {
		t.Errorf("%+v, expected one product of tensor cores", l)
	}
}

// Without a loop, and without a multiplication in one, there is nothing to count.
func TestEmptyLoop(t *testing.T) {
	for _, lines := range [][]string{nil, sass("FFMA R1, R2, R3, R4", "EXIT"), sass("MOV R1, R2", "@P0 BRA 0x0")} {
		if l := Of(SASS(lines)); l.FMA != 0 || l.Instructions != 0 {
			t.Errorf("%q: %+v", lines, l)
		}
	}
}

func TestBankWaits(t *testing.T) {
	for _, c := range []struct {
		code []string
		want int
	}{
		{[]string{"FFMA R1, R2, R3, R1"}, 1},                                    // 3 and 1 are of one bank
		{[]string{"FFMA R1, R2, R3, R2"}, 0},                                    // a register twice is read once
		{[]string{"FFMA R1, R3, R5, R1"}, 2},                                    // three of one
		{[]string{"FFMA R1, R2, R3.reuse, R0", "FFMA R5, R4, R3, R5"}, 1},       // the first waits, the second has R3
		{[]string{"FFMA R1, R2, R3, R0", "FFMA R5, R4, R3, R5"}, 2},             // not kept
		{[]string{"FFMA R1, R3.reuse, R2, R0", "FFMA R5, R4, R3, R5"}, 2},       // kept in another place
		{[]string{"FFMA R1, R2, 2, RZ", "@P0 FFMA R1, R2, c[0x0][0x4], R3"}, 0}, // constants and zero
		{[]string{"FFMA R5, -R4.reuse, |R6|, R5"}, 1},
		{[]string{"LDS.128 R16, [R106+0x630]", "IADD3 R2, R4, R6, R8"}, 0}, // only FFMA are counted
	} {
		if got := bankWaits(SASS(sass(c.code...))); got != c.want {
			t.Errorf("%q: %d, expected %d", c.code, got, c.want)
		}
	}
}
