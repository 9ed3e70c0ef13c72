package lite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

const root = "../.."

// step is a request of node.js.
type step struct {
	cellproto.Request
	After string `json:"after,omitempty"` // interrupt at the first "stream"
}

func cell(code string) step {
	return step{Request: cellproto.Request{Type: cellproto.Execute, Code: code}}
}

// answer is what came back of a step.
type answer struct {
	output string // of both streams
	events []cellproto.Event
	done   cellproto.Event
}

// runNode runs steps in a fresh program.
func runNode(t *testing.T, steps ...step) (answers []answer, last string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is not installed, expected Node 20 or newer: install it, or unset WARPBOOK_LITE")
	}
	loader, err := Loader(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var in, errors bytes.Buffer
	for _, s := range steps {
		if err := json.NewEncoder(&in).Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), node, "node.js", loader, built(t))
	c.Env = append(os.Environ(), "WARPBOOK_FILES="+root+"/notebooks")
	c.Stdin, c.Stderr = &in, &errors
	out, err := c.Output()
	answers = make([]answer, len(steps)+1)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		last = lines.Text()
		var e cellproto.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		a := &answers[e.ID]
		if a.events = append(a.events, e); e.Type == cellproto.Stream {
			a.output += e.Text
		}
		if e.Type == cellproto.Done {
			a.done = e
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err != nil && !strings.Contains(last, `"ended"`) {
		t.Fatalf("node: %v\n%s%s", err, errors.String(), last)
	}
	return answers[1:], last
}

// built is the path of the program, which is built once.
func built(t *testing.T) string {
	t.Helper()
	if os.Getenv("WARPBOOK_LITE") == "" {
		t.Skip("WARPBOOK_LITE is not set: the test builds the cells program for js/wasm, which takes minutes, and runs it in Node")
	}
	if program == "" {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("warpbook-lite-test-%d.wasm", os.Getpid()))
		if err := Program(t.Context(), root, path, os.Stderr); err != nil {
			t.Fatal(err)
		}
		program = path
	}
	return program
}

var program string // the built one; TestMain removes it

func TestMain(m *testing.M) {
	status := m.Run()
	if program != "" {
		os.Remove(program)
	}
	os.Exit(status)
}

const kernelPTX = `
.version 8.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 x)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<3>;
	.reg .f32 %f<3>;
	ld.param.u64 %rd1, [x];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.f32 %f1, [%rd3];
	add.f32 %f2, %f1, %f1;
	st.global.f32 [%rd3], %f2;
	ret;
}
`

// TestNode runs cells of each kind in Node.
func TestNode(t *testing.T) {
	steps := []step{
		cell("1 + 1"),
		cell("import \"fmt\"\nfor i := range 3 {\n\tfmt.Println(\"line\", i)\n}\nfmt.Print(\"é\\u4f60\")"),
		cell("undefined1"),
		cell("panic(\"no\")"),
		cell("import \"warpbook/kernel/display\"\ndisplay.Show(display.BarChart{Title: \"chart\", Labels: []string{\"a\"}, Series: []display.Series{{Name: \"s\", Values: []float64{1}}}})\nfmt.Println(\"after\")"),
		{Request: cellproto.Request{Type: cellproto.Execute, Code: "kept := 7\nfmt.Println(\"in\")\nfor {\n}"}, After: cellproto.Stream},
		cell("kept"),
		{Request: cellproto.Request{Type: cellproto.Complete, Code: "fmt.Printl", Cursor: 10}},
		cell("%%bash\necho no"),
		cell("%pkg example.com/m"),
		cell("%%cuda\n__global__ void f(float* x) { x[0] = 1; }"),
		cell("%%ptx\n" + kernelPTX),
		cell(`import (
	"warpbook/gpu"
	"warpbook/gpu/device"
)
dev, err := device.Open("emu:h200")
if err != nil {
	panic(err)
}
x, err := dev.Alloc(gpu.Float32, 64)
if err != nil {
	panic(err)
}
values := make([]float32, 64)
for i := range values {
	values[i] = float32(i)
}
if err := x.Upload(values); err != nil {
	panic(err)
}
if err := twice.Launch(dev, gpu.Dim{X: 1}, gpu.Dim{X: 64}, x); err != nil {
	panic(err)
}
if err := x.Download(values); err != nil {
	panic(err)
}
fmt.Println(twice.Name(), values[0], values[33], values[63])`),
		cell("import \"net/http\"\nhttp.Get"),
		{Request: cellproto.Request{Type: cellproto.AskTyped, Code: "for {\nif x {"}},
		cell("%lang zh"),
		cell("display.NewTable(\"variant\").Row(\"PASS\")"),
	}
	got, last := runNode(t, steps...)
	value := func(i int) any { return got[i].done.Data["text/plain"] }
	fails := func(i int, texts ...string) {
		t.Helper()
		if got[i].done.Error == nil {
			t.Errorf("cell %d did not fail", i+1)
			return
		}
		for _, text := range texts {
			if !strings.Contains(got[i].done.Error.Error(), text) {
				t.Errorf("cell %d: %v, expected %q", i+1, got[i].done.Error, text)
			}
		}
	}
	if value(0) != "2" {
		t.Errorf("1 + 1 is %v", value(0))
	}
	if text, _ := value(16).(string); !strings.Contains(text, "变体") || !strings.Contains(text, "通过") {
		t.Errorf("after %%lang zh a table is %q, expected it in Chinese", text)
	}
	if got[1].output != "line 0\nline 1\nline 2\né你" {
		t.Errorf("printed %q", got[1].output)
	}
	fails(2, "undefined1")
	fails(3, "panic", "no")
	if e := got[4].events; len(e) < 3 || e[0].Type != cellproto.Display || !strings.HasPrefix(fmt.Sprint(e[0].Data["image/svg+xml"]), "<svg") || got[4].output != "after\n" {
		t.Errorf("displayed %v", e)
	}
	fails(5, "interrupted")
	if value(6) != "7" {
		t.Errorf("a variable is %v after an interrupt, expected 7", value(6))
	}
	if m := got[7].done.Matches; len(m) != 1 || m[0].Text != "Println" {
		t.Errorf("completions %v", m)
	}
	fails(8, "%%bash", "browser", "install")
	fails(9, "%pkg", "browser", "install")
	fails(10, "browser", "committed PTX", "install")
	if e := got[11].done.Error; e != nil {
		t.Error(e)
	}
	if got[12].output != "twice 0 66 126\n" || got[12].done.Error != nil {
		t.Errorf("launch printed %q: %v", got[12].output, got[12].done.Error)
	}
	fails(13, "net/http")
	if d := got[14].done; d.Typed != "incomplete" || d.Depth != 2 {
		t.Errorf("an open loop is %q of depth %d, expected incomplete, 2", d.Typed, d.Depth)
	}
	if !strings.Contains(last, `"memory"`) {
		t.Errorf("ended with %s", last)
	}
}

// TestNodeRecursion: a cell that fills the stack ends the program with a reason.
func TestNodeRecursion(t *testing.T) {
	_, last := runNode(t, cell("var f func(int) int\nf = func(n int) int { return f(n+1) + 1 }\nf(0)"))
	if !strings.Contains(last, `"ended"`) || !strings.Contains(last, "recursed too deeply") {
		t.Errorf("ended with %s", last)
	}
}

// TestNodeMemory: a cell that needs more memory than WebAssembly has ends the program
// with a remedy.
func TestNodeMemory(t *testing.T) {
	_, last := runNode(t, cell("import \"fmt\"\nvar all [][]byte\nfor range 8 {\n\tall = append(all, make([]byte, 1<<30))\n}\nfmt.Println(len(all))"))
	if !strings.Contains(last, `"ended"`) || !strings.Contains(last, "choose smaller sizes") {
		t.Errorf("ended with %s", last)
	}
}

// TestLeftOut: packages that notebooks use stay in.
func TestLeftOut(t *testing.T) {
	for line, out := range map[string]bool{
		`_ "github.com/goplus/ixgo/pkg/net/http"`: true, `_ "github.com/goplus/ixgo/pkg/net/url"`: false, `_ "github.com/goplus/ixgo/pkg/net"`: true,
		`_ "github.com/goplus/ixgo/pkg/math"`: false, `_ "github.com/goplus/ixgo/pkg/crypto"`: false, `_ "github.com/goplus/ixgo/pkg/crypto/tls"`: true,
		`_ "github.com/goplus/ixgo/pkg/crypto/sha256"`: false, `_ "github.com/goplus/ixgo/pkg/image/png"`: false, `_ "github.com/goplus/ixgo/pkg/os"`: false,
	} {
		if got := leftOut.MatchString(line) && !keptIn.MatchString(line); got != out {
			t.Errorf("%s is left out: %v, expected %v", line, got, out)
		}
	}
}

// TestNodeVectors: the steps that run with vector instructions of WebAssembly give the
// results of portable Go.
func TestNodeVectors(t *testing.T) {
	if os.Getenv("WARPBOOK_LITE") == "" {
		t.Skip("WARPBOOK_LITE is not set: the test runs the emulator's tests in Node")
	}
	loader, err := Loader(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("exec.js")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-tags", "simd128", "-v",
		"-exec", fmt.Sprintf("node --stack-size=8192 '%s' '%s'", script, loader), "./gpu/emu/simd", "./gpu/emu/engine")
	c.Dir, c.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"TestVectorOperations", "TestFusedProducts", "TestRowsOfProducts", "TestShuffleOfVectors", "TestSearch"} {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not pass with vectors: %s", name, out)
		}
	}
}
