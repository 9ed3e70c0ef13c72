package ptx

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// corpus is what compilers wrote, and constructs.ptx, which the assembler of
// CUDA 13 accepts.
func corpus(t testing.TB) map[string]string {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) < 7 {
		t.Fatalf("corpus: %d files, %v", len(files), err)
	}
	texts := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(f)] = string(text)
	}
	return texts
}

func mustParse(t testing.TB, name, text string) *Module {
	t.Helper()
	m, err := Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGolden(t *testing.T) {
	for name, text := range corpus(t) {
		golden := filepath.Join("testdata", strings.TrimSuffix(name, ".ptx")+".golden")
		got := printModule(mustParse(t, name, text))
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: line %d differs from %s", name, firstDifference(got, string(want)), golden)
		}
	}
}

func firstDifference(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}

// TestPrintedParsesTheSame parses what the printer wrote: no fact may be lost
// between the two.
func TestPrintedParsesTheSame(t *testing.T) {
	for name, text := range corpus(t) {
		first := printModule(mustParse(t, name, text))
		second := printModule(mustParse(t, "printed "+name, first))
		if first != second {
			t.Errorf("%s: line %d differs the second time", name, firstDifference(first, second))
		}
	}
}

func TestInvariants(t *testing.T) {
	for name, text := range corpus(t) {
		m := mustParse(t, name, text)
		checkModule(t, m, text)
		instructions := 0
		for _, f := range m.Functions {
			instructions += len(f.Code)
		}
		if instructions < 20 {
			t.Errorf("%s: %d instructions", name, instructions)
		}
	}
}

// checkModule asserts the invariants of every module on which devices rely.
func checkModule(t testing.TB, m *Module, text string) {
	lines := strings.Split(text, "\n")
	module := map[string]bool{}
	for _, v := range m.Variables {
		module[v.Name] = true
		checkVariable(t, v)
	}
	for _, f := range m.Functions {
		module[f.Name] = true
	}
	for _, v := range m.Variables {
		for _, r := range v.Relocs {
			if !module[r.Symbol] || r.Offset+r.Bytes > len(v.Init) {
				t.Errorf("%s: relocation of %s: %+v", m.Name, v.Name, r)
			}
		}
	}
	for _, f := range m.Functions {
		checkFunction(t, f, module, lines)
	}
}

func checkVariable(t testing.TB, v *Variable) {
	if v.Align < 1 || v.Align&(v.Align-1) != 0 || v.Bytes() == 0 && !v.Extern && !v.Type.Opaque() || len(v.Init) > v.Bytes() {
		t.Errorf("variable %+v", *v)
	}
}

func checkFunction(t testing.TB, f *Function, module map[string]bool, lines []string) {
	known := map[string]bool{}
	for _, list := range [][]*Variable{f.Returns, f.Params, f.Variables} {
		for _, v := range list {
			if known[v.Name] {
				t.Errorf("%s: variable %s twice", f.Name, v.Name)
			}
			known[v.Name] = true
		}
	}
	for name := range module {
		known[name] = true
	}
	registers := map[string]bool{}
	for _, r := range f.Registers {
		if registers[r.Name] || r.Type.Bytes() == 0 {
			t.Errorf("%s: register %+v twice or without a type", f.Name, r)
		}
		registers[r.Name] = true
	}
	for label, at := range f.Labels {
		if at < 0 || at > len(f.Code) {
			t.Errorf("%s: label %s at %d of %d", f.Name, label, at, len(f.Code))
		}
	}
	for _, in := range f.Code {
		line := lines[in.Pos.Line-1]
		if !strings.HasPrefix(line[in.Pos.Col-1:], in.Opcode) {
			t.Errorf("%s: %s is not at %v: %s", f.Name, in.Opcode, in.Pos, line)
		}
		if in.Guard >= 0 && f.Registers[in.Guard].Type != "pred" {
			t.Errorf("%s: guard %s", f.Name, f.Registers[in.Guard].Name)
		}
		checkOperands(t, f, in.Operands, known)
	}
}

func checkOperands(t testing.TB, f *Function, list []Operand, known map[string]bool) {
	for _, o := range list {
		limit := len(f.Registers)
		bad := o.Reg >= limit || o.Second >= limit
		switch o.Kind {
		case RegisterOperand:
			bad = bad || o.Reg < 0
		case SymbolOperand:
			bad = !known[o.Symbol]
		case AddressOperand:
			bad = bad || o.Symbol != "" && !known[o.Symbol]
		case LabelOperand:
			_, label := f.Labels[o.Symbol]
			_, table := f.Tables[o.Symbol]
			bad = !label && !table && f.Prototypes[o.Symbol] == nil
		case SpecialOperand:
			bad = o.Symbol[0] != '%'
		}
		if bad {
			t.Errorf("%s: operand %+v", f.Name, o)
		}
		checkOperands(t, f, o.Elems, known)
	}
}

func TestModule(t *testing.T) {
	m := mustParse(t, "reduce.sm_75.ptx", corpus(t)["reduce.sm_75.ptx"])
	if m.Version != [2]int{8, 1} || m.Target != "sm_75" || m.AddressBytes != 8 || m.Files[1] != "reduce.cu" {
		t.Errorf("module %v %s %d %v", m.Version, m.Target, m.AddressBytes, m.Files)
	}
	if m.Entry("reduce") != nil {
		t.Error("an entry named reduce")
	}
	f := m.Entry("reduce_float4")
	if f == nil || f.MaxThread != [3]int{256, 1, 1} || len(f.Params) != 3 || f.Params[2].Type != "u32" {
		t.Fatalf("entry %+v", f)
	}
	// The source line of a global load: the body of the loop over x.
	for _, in := range f.Code {
		if in.Name() == "ld.global.v4.f32" {
			if want := (Source{File: 1, Line: 22}); in.Source != want {
				t.Errorf("source %v, want %v", in.Source, want)
			}
			return
		}
	}
	t.Error("no ld.global.v4.f32")
}

func TestInitialBytes(t *testing.T) {
	m := mustParse(t, "constructs.ptx", corpus(t)["constructs.ptx"])
	want := map[string][]byte{
		"quad":  {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40},
		"rows":  {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xfd, 0xff, 0xff, 0xff, 16, 0, 0, 0, 5, 0, 0, 0},
		"open":  {1, 0, 2, 0, 0xfc, 0xff, 15, 0},
		"bytes": {0, 0, 0, 7},
		"bits":  {0, 0, 0x80, 0x3f},
		"two":   {65, 0, 0, 0},
		"one":   nil,
	}
	relocs := map[string][]Reloc{
		"where": {
			{Offset: 0, Symbol: "text", Bytes: 8},
			{Offset: 8, Symbol: "text", Addend: 3, Generic: true, Bytes: 8},
			{Offset: 16, Symbol: "pairs", Addend: 16, Bytes: 8},
		},
		"bytes": {
			{Offset: 0, Symbol: "text", Bytes: 1},
			{Offset: 1, Symbol: "text", Bytes: 1, Shift: 8},
			{Offset: 2, Symbol: "text", Generic: true, Bytes: 1, Shift: 16},
		},
		"address_of_callee": {{Symbol: "callee", Bytes: 8}},
	}
	for _, v := range m.Variables {
		if bytes, ok := want[v.Name]; ok && !reflect.DeepEqual(v.Init, bytes) {
			t.Errorf("%s: %v, want %v", v.Name, v.Init, bytes)
		}
		if !reflect.DeepEqual(v.Relocs, relocs[v.Name]) {
			t.Errorf("%s: %+v, want %+v", v.Name, v.Relocs, relocs[v.Name])
		}
		delete(want, v.Name)
		delete(relocs, v.Name)
	}
	if len(want) > 0 || len(relocs) > 0 {
		t.Errorf("not found: %v %v", want, relocs)
	}
}
