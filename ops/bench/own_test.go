package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
	"warpbook/ops/peers"
)

// interpreter is Python's program itself: python3 may be a slow script. "" without Python.
var interpreter = sync.OnceValue(func() string {
	out, _ := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out))
})

// program starts a Python program that serves the function mine of its text.
func program(t *testing.T, text string) *peers.Own {
	t.Helper()
	if interpreter() == "" {
		t.Skip("there is no python3")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "mine.py")
	if err := os.WriteFile(path, []byte("import warpbook_peer\n"+text+"\nwarpbook_peer.serve(mine)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := peers.StartOwn(context.Background(), interpreter()+" "+path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Close)
	return own
}

// beside is the figure of a program at a size.
func beside(t *testing.T, text string, n int) (peers.Figure, error) {
	t.Helper()
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	b := newBench(t, dev, sample.Operator, 1, n)
	b.Repeats = 6
	f, err := OwnPeer(b, program(t, text))
	checkAll(t, b, "inputs after the program", "sum_blocks")
	return f, err
}

// lateIn makes the runs of a program that an expression of i chooses late by 50 ms, as a GPU
// that has work in another stream, or a host that is busy.
func lateIn(runs string) string {
	return `clock = warpbook_peer.Plain.time
def slow(self, request, before, run):
    ns, _ = clock(self, request, before, run)
    return ns, [50_000_000 if ` + runs + ` else 1_000 for i in range(len(ns))]
warpbook_peer.Plain.time = slow
def mine(x):
    return sum(x)`
}

// A function that returns its result and one that writes it are timed by a clock that the
// figure names.
func TestOwnPeer(t *testing.T) {
	for _, text := range []string{"def mine(x):\n    return sum(x)", "def mine(x, y, n):\n    y[0] = sum(x[:n])", lateIn("i == 2")} {
		for _, n := range []int{0, 1, 1000} {
			f, err := beside(t, text, n)
			if err != nil || f.Verdict != ladder.Pass || f.MedianNS <= 0 || f.Repeats != 6 || f.Method != "host clock" || f.Device != "CPU" || f.Name != "mine" || f.Note != "" {
				t.Errorf("n = %d: %+v, %v, expected six times of the host's clock", n, f, err)
			}
		}
	}
}

// The exploits of kernel contests are rejected, and the figure names what was seen.
func TestOwnPeerRejects(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a wrong result":       {"def mine(x):\n    return sum(x) + 1", "FAIL bound"},
		"keeps a result":       {"kept = []\ndef mine(x):\n    if not kept: kept.append(sum(x))\n    return kept[0]", "REJECTED does not compute its result in each run"},
		"keeps it by address":  {"kept = {}\ndef mine(x):\n    return kept.setdefault((id(x), x[0]), sum(x))", "REJECTED does not compute its result in each run"},
		"leaves an old output": {"runs = 0\ndef mine(x, y):\n    global runs\n    runs += 1\n    if runs < 4: y[0] = sum(x)", "REJECTED does not compute its result in each run"},
		"empties its input":    {"def mine(x):\n    s = sum(x)\n    for i in range(1, len(x)): x[i] = 0\n    x[0] = s\n    return s", "REJECTED changes its input x"},
		"computes in float16":  {"import struct\ndef mine(x):\n    return sum(struct.unpack('e', struct.pack('e', v))[0] for v in x)", "REJECTED lower precision: a sum of few terms has 1"},
		"another thread": {`import queue, threading, time
work = queue.Queue()
def worker():
    while True:
        x, y = work.get()
        time.sleep(0.02)
        y[0] = sum(x)
        work.task_done()
threading.Thread(target=worker, daemon=True).start()
class Later:
    def __init__(self, y): self.y = y
    def __len__(self): work.join(); return 1
    def __iter__(self): return iter(self.y)
def mine(x, y):
    work.put((x, y))
    return Later(y)`, "REJECTED its clock misses work: it has "},
		"another stream":          {lateIn("i != 2"), "REJECTED works in a stream that is not timed: 50ms after the end of a run of "},
		"numbers as another type": {"import array\ndef mine(x):\n    return array.array('d', [sum(x)])", "REJECTED returns float64 for y, expected float32"},
	} {
		f, err := beside(t, test.text, 1000)
		if got := f.Verdict + " " + f.Note; err != nil || !strings.HasPrefix(got, test.want) || f.MedianNS != 0 {
			t.Errorf("%s: %s, %v, expected %q without a time", name, got, err, test.want)
		}
	}
}

// A program that fails is one line that names it.
func TestOwnPeerFails(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"raises":        {"def mine(x):\n    raise ValueError('no such thing\\nas this')", "peer mine: ValueError: no such thing"},
		"other names":   {"def mine(input):\n    return 1", "peer mine: TypeError: the function takes input, expected some of x, y, n"},
		"ends":          {"import sys\ndef mine(x):\n    print('the driver is gone', file=sys.stderr)\n    sys.stderr.flush()\n    import os; os._exit(3)", "peer mine: exit status 3: the driver is gone"},
		"too many":      {"def mine(x):\n    return [1, 2, 3]", "peer mine: ValueError: 3 results, expected one for each of y"},
		"too long":      {"import array\ndef mine(x):\n    return array.array('f', [1, 2, 3])", "peer mine: ValueError: 3 elements of a result, expected at most 1"},
		"no module":     {"import nosuchmodule\ndef mine(x): pass", "peer mine: exit status 1: ModuleNotFoundError: No module named 'nosuchmodule'"},
		"other numbers": {"warpbook_peer.json.dumps = lambda r: '{\"samples_ns\": [1, 2]}'\ndef mine(x):\n    return 1", "peer mine: reply with 2 samples_ns, expected 1"},
		"no JSON":       {"warpbook_peer.json.dumps = lambda r: '{\"samples_ns\": '\ndef mine(x):\n    return 1", `peer mine: reply "{\"samples_ns\":": unexpected end of JSON input`},
	} {
		_, err := beside(t, test.text, 10)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected a line that begins with %q", name, err, test.want)
		}
	}
}
