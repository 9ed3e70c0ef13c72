package ptx

import (
	"slices"
	"strings"
	"testing"
)

const prologue = ".version 8.0\n.target sm_80\n.address_size 64\n"

// inBody puts statements into an entry; they start at line 6, column 1.
func inBody(statements string) string {
	return prologue + ".global .b32 g[8]; .visible .entry k(.param .u64 x) {\n" +
		".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .v2 .f32 v;\n" +
		statements + "\nret;\n}\n"
}

var operandTests = []struct{ text, want string }{
	{"bar.sync 0;", "bar.sync 0"},
	{"exit;", "exit"},
	{"mov.u32 %r1, 0x1F;", "mov.u32 %r1, 31"},
	{"mov.u32 %r1, 0b101U;", "mov.u32 %r1, 5"},
	{"mov.u32 %r1, 017;", "mov.u32 %r1, 15"},
	{"mov.u32 %r1, 0;", "mov.u32 %r1, 0"},
	{"mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;", "mov.u64 %rd1, -1"},
	{"mov.s64 %rd1, -9223372036854775808;", "mov.s64 %rd1, -9223372036854775808"},
	{"mov.f32 %f1, 0f7FC00001;", "mov.f32 %f1, 0f7fc00001"},
	{"mov.f64 %rd1, 0dBFF0000000000000;", "mov.f64 %rd1, 0dbff0000000000000"},
	{"mov.f32 %f1, -1.5;", "mov.f32 %f1, 0dbff8000000000000"},
	{"mov.f32 %f1, 1.;", "mov.f32 %f1, 0d3ff0000000000000"},
	{"mov.f32 %f1, 25e-1;", "mov.f32 %f1, 0d4004000000000000"},
	{"mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, 32"},
	{"mov.u32 %r1, WARP_SZ - 1;", "mov.u32 %r1, 31"},
	{"mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.x"},
	{"mov.v4.u32 {%r1,%r2,%r3,_}, %tid;", "mov.v4.u32 {%r1, %r2, %r3, _}, %tid"},
	{"mov.u32 %r1, %envreg31;", "mov.u32 %r1, %envreg31"},
	{"mov.u32 %r1, %pm7;", "mov.u32 %r1, %pm7"},
	{"mov.u64 %rd1, %pm3_64;", "mov.u64 %rd1, %pm3_64"},
	{"mov.u64 %rd1, g;", "mov.u64 %rd1, g"},
	{"mov.u64 %rd1, g+2*4;", "mov.u64 %rd1, g+8"},
	{"mov.u64 %rd1, k;", "mov.u64 %rd1, k"},
	{"ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1]"},
	{"ld.global.u32 %r1, [%rd1+-4];", "ld.global.u32 %r1, [%rd1+-4]"},
	{"ld.global.u32 %r1, [g+(1+2)*4];", "ld.global.u32 %r1, [g+12]"},
	{"ld.local.u32 %r1, [16];", "ld.local.u32 %r1, [16]"},
	{"ld .global .u32 %r1, [x];", "ld.global.u32 %r1, [x]"},
	{"ld.shared::cluster.L2::128B.u32 %r1, [%r2];", "ld.shared::cluster.L2::128B.u32 %r1, [%r2]"},
	{"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [g, {%f5,%f6}];", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [g, {%f5, %f6}]"},
	{"setp.ne.and.u32 %p1|%p2, %r1, 0, !%p3;", "setp.ne.and.u32 %p1|%p2, %r1, 0, !%p3"},
	{"setp.ne.u32 %p1|_, %r1, 0;", "setp.ne.u32 %p1|_, %r1, 0"},
	{"setp.ne.u32 _|%p1, %r1, 0;", "setp.ne.u32 _|%p1, %r1, 0"},
	{"mov.b64 {%r1, _}, %rd1;", "mov.b64 {%r1, _}, %rd1"},
	{"mov.b64 %rd1, {%r1, 1+1};", "mov.b64 %rd1, {%r1, 2}"},
	{"mma.sync {%f1}, {%f2}, {%f3}, {%f4};", "mma.sync {%f1}, {%f2}, {%f3}, {%f4}"},
	{"add.f32 %f1, v.x, v.y;", "add.f32 %f1, v$x, v$y"},
	{"st.global.v2.f32 [g], v;", "st.global.v2.f32 [g], {v$x, v$y}"},
	{"vadd.s32.u32.s32 %r1, %r2.b3, %r3.h0;", "vadd.s32.u32.s32 %r1, %r2.b3, %r3.h0"},
	{"@%p1 bra L; L:", "@%p1 bra L"},
	{"@!%p1 bra.uni L; L:", "@!%p1 bra.uni L"},
	{"call k;", "call k"},
	{"call.uni k, (%r1, 5);", "call.uni k, (%r1, 5)"},
	{"call (%r1), k, ();", "call (%r1), k, ()"},
	{"{ .reg .b32 %r1; mov.u32 %r1, %r2; }", "mov.u32 %r1$1, %r2"},
	{"{ .reg .f32 %w<3>; { .reg .b32 %w<3>; mov.b32 %w1, 0; } mov.f32 %w1, 0f00000000; }", "mov.b32 %w1$2, 0"},
	{"mov.f32 %f1, -0f3f800000;", "mov.f32 %f1, 0fbf800000"},
	{"mov.f32 %f1, -0d3ff0000000000000;", "mov.f32 %f1, 0dbff0000000000000"},
	{"{{ .reg .u32 t; mov.u32 t, 1; }}", "mov.u32 t$2, 1"},
	{"{ .param .b32 a; st.param.b32 [a+0], %r1; }", "st.param.b32 [a$1], %r1"},
	{".reg .b32 k, %tid; mov.u32 k, %tid;", "mov.u32 k, %tid"},
	{"{ bra L; } L:", "bra L"},
	{"{ bra L; L: } L:", "bra L$1"},
	{"/* ; */ mov.u32 // ,\n %r1,\r\n\t%r2 ;", "mov.u32 %r1, %r2"},
	{".pragma \"nounroll\"; mov.u32 %r1, %r2;", "mov.u32 %r1, %r2"},
}

func TestOperands(t *testing.T) {
	for _, tt := range operandTests {
		m, err := Parse("t.ptx", inBody(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		f := m.Functions[0]
		p := printer{}
		p.instruction(f, f.Code[0])
		if got := strings.TrimSuffix(strings.TrimSpace(p.String()), ";"); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestExpressions(t *testing.T) {
	tests := []struct {
		text string
		want int64
	}{
		{"2 + 3 * 4", 14},
		{"(2 + 3) * 4", 20},
		{"10 - 4 - 3", 3},
		{"100 / 7 / 2", 7},
		{"-7 / 2", -3},
		{"-7 % 3", -1},
		{"0xFFFFFFFFFFFFFFFF / 2", 0x7fffffffffffffff},
		{"-1 >> 1", -1},
		{"(.u64)-1 >> 1", 0x7fffffffffffffff},
		{"(.s64)(-1U) >> 1", -1},
		{"1 << 64", 0},
		{"1 << 2 + 1", 8},
		{"1 | 6 & 3 ^ 4", 7},
		{"~0", -1},
		{"!5 + !0", 1},
		{"- - 5", 5},
		{"+5", 5},
		{"1 < 2 == 1", 1},
		{"-1 < 1", 1},
		{"-1 < 1U", 0},
		{"3 >= 3 && 2 <= 1 || 4 > 3", 1},
		{"1 != 1 ? 10 : 0 ? 20 : 30", 30},
		{"1.5 < 2", 1},
		{"!0.0", 1},
		{"(.s64)0x8000000000000000 / -1", -9223372036854775808},
		{"9223372036854775808 / 2", 4611686018427387904},
	}
	for _, tt := range tests {
		m, err := Parse("t.ptx", inBody("mov.b64 %rd1, "+tt.text+";"))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if o := m.Functions[0].Code[0].Operands[1]; int64(o.Bits) != tt.want || o.Float != 0 {
			t.Errorf("%s: got %d, want %d", tt.text, int64(o.Bits), tt.want)
		}
	}
}

// TestRegistersByUse: the cost of a register range depends on the registers in use, not on its width.
func TestRegistersByUse(t *testing.T) {
	m := mustParse(t, "t.ptx", inBody(".reg .b32 %w<4000000000>; mov.u32 %w3999999999, %w0; mov.u32 %w0, %w0;"))
	want := []Reg{{"%w3999999999", "b32"}, {"%w0", "b32"}}
	if got := m.Functions[0].Registers; !slices.Equal(got, want) {
		t.Errorf("registers %v, want %v", got, want)
	}
}

func TestLabels(t *testing.T) {
	m := mustParse(t, "t.ptx", inBody("A: B: bra B;\n{ A: bra A; bra C; }\nC: T: .branchtargets A, C;\nbrx.idx %r1, T;\n{ T: .branchtargets T2; T2: brx.idx %r1, T; }"))
	f := m.Functions[0]
	for label, at := range map[string]int{"A": 0, "B": 0, "A.1": 1, "C": 3, "T2.2": 4} {
		if got, ok := f.Labels[label]; !ok || got != at {
			t.Errorf("label %s at %d, want %d", label, got, at)
		}
	}
	if len(f.Labels) != 5 || !slices.Equal(f.Tables["T"], []string{"A", "C"}) || !slices.Equal(f.Tables["T.2"], []string{"T2.2"}) {
		t.Errorf("labels %v, tables %v", f.Labels, f.Tables)
	}
}

func TestFunctions(t *testing.T) {
	m := mustParse(t, "t.ptx", prologue+`
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .func (.param .b32 r) f (.param .b32 a);
.entry e .reqntid 8, 4, 2 .maxnreg 32 .explicitcluster .reqnctapercluster 2, 3 .pragma "x"; { ret; }
.func (.reg .b32 r) f2 (.reg .b32 a, .param .b8 rest[]) { mov.u32 r, a; ret; }
.func (.param .b32 r) f (.param .b32 a) { ret; }
.func g (.param .b32 a);
.func h (.param .b32 a) .noreturn { trap; }
.alias g, h;
`)
	var names []string
	for _, f := range m.Functions {
		if f.Extern {
			f.Name += " extern"
		}
		names = append(names, f.Name)
	}
	if want := []string{"vprintf extern", "f", "e", "f2", "g", "h"}; !slices.Equal(names, want) {
		t.Errorf("functions %v, want %v", names, want)
	}
	if e := m.Entry("e"); e.ReqThread != [3]int{8, 4, 2} {
		t.Errorf(".reqntid %v", e.ReqThread)
	} else if e.Cluster != [3]int{2, 3, 1} || !slices.Equal(e.Clusters, []string{"explicitcluster"}) {
		t.Errorf(".reqnctapercluster %v, %v", e.Cluster, e.Clusters)
	}
	if g := m.Functions[4]; len(g.Code) != 1 || g.Code[0].Opcode != "trap" {
		t.Errorf("alias %+v", g)
	}
	if f := m.Functions[1]; f.Pos.Line != 9 || len(f.Code) != 1 {
		t.Errorf("f at %v, expected the definition's line", f.Pos)
	}
	if f2 := m.Functions[3]; f2.Params[0].Space != Register || f2.Params[1].Count != 0 {
		t.Errorf("parameters of f2 %+v", f2.Params)
	}
}

func TestDefinitionOfExtern(t *testing.T) {
	m := mustParse(t, "t.ptx", prologue+".extern .global .u32 a[]; .visible .global .u32 a[2] = {5, 6}; .extern .global .u32 a[];")
	if len(m.Variables) != 1 || m.Variables[0].Extern || m.Variables[0].Bytes() != 8 || m.Variables[0].Init[4] != 6 {
		t.Errorf("variables %+v", *m.Variables[0])
	}
}

func TestSources(t *testing.T) {
	m := mustParse(t, "t.ptx", prologue+".file 3 \"a\\\"b.cu\"\n.entry k() {\nexit;\n.loc 3 10 2\nexit;\nexit;\n.loc 2 7 1, function_name .debug_str+8, inlined_at 3 11 4\nexit;\n.loc 3 0 1\nexit;\n}")
	want := []Source{{}, {3, 10}, {3, 10}, {2, 7}, {}}
	inlined := []Source{{}, {}, {}, {3, 11}, {}}
	for i, in := range m.Functions[0].Code {
		if in.Source != want[i] || in.Inlined != inlined[i] {
			t.Errorf("instruction %d: source %v in %v, want %v in %v", i, in.Source, in.Inlined, want[i], inlined[i])
		}
	}
	if m.Files[3] != `a"b.cu` {
		t.Errorf("file %q", m.Files[3])
	}
}

func TestTrailingZeroByte(t *testing.T) {
	mustParse(t, "t.ptx", inBody("exit;")+"\x00") // as compilers hand it over
}
