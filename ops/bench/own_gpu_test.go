package bench

import (
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// A program that uses torch on a GPU is timed by events, and work in a stream that they do
// not see is rejected; here torch is a stand-in, whose work takes the time that mine gives.
func TestOwnPeerOnAGPU(t *testing.T) {
	fake, err := filepath.Abs("testdata/faketorch")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", fake)
	for name, test := range map[string]struct {
		text  string
		cache results.Cache
		want  string
	}{
		"one stream":             {"def mine(x):\n    torch.cuda.use(2_000_000)\n    return sum(x)", results.Warm, ladder.Pass + " "},
		"writes its output":      {"def mine(x, y):\n    torch.cuda.use(2_000_000)\n    y[0] = sum(x)", results.Flushed, ladder.Pass + " "},
		"another stream":         {"def mine(x):\n    torch.cuda.use(50_000_000, 'other')\n    return sum(x)", results.Warm, "REJECTED works in a stream that is not timed: "},
		"a stream that it joins": {"def mine(x):\n    torch.cuda.use(2_000_000, 'other')\n    torch.cuda.use(2_000_000)\n    return sum(x)", results.Warm, ladder.Pass + " "},
		"keeps a result":         {"kept = []\ndef mine(x):\n    torch.cuda.use(2_000_000)\n    if not kept: kept.append(sum(x))\n    return kept[0]", results.Warm, "REJECTED does not compute its result in each run"},
		"changes its input":      {"def mine(x):\n    torch.cuda.use(2_000_000)\n    s = sum(x)\n    x[0] += 1\n    return s", results.Warm, "REJECTED changes its input x"},
		"a clock of its own":     {"torch.cuda.Event.elapsed_time = lambda self, end: 1e-3\ndef mine(x):\n    torch.cuda.use(20_000_000)\n    return sum(x)", results.Warm, "REJECTED its clock misses work: it has 1µs for a run"},
		"double precision":       {"def mine(x):\n    torch.cuda.use(2_000_000)\n    return torch.Tensor(torch.float64, [sum(x)])", results.Warm, "REJECTED returns float64 for y, expected float32"},
	} {
		dev, err := device.Open("emu")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dev.Close() }) // after the bench's end
		b := newBench(t, dev, sample.Operator, 1, 1000)
		b.Repeats, b.Method.Cache = 6, test.cache
		f, err := OwnPeer(b, program(t, "import torch\n"+test.text))
		got := f.Verdict + " " + f.Note
		if err != nil || !strings.HasPrefix(got, test.want) || (f.MedianNS != 0) != (f.Verdict == ladder.Pass) {
			t.Errorf("%s: %s, %v, expected %q", name, got, err, test.want)
		}
		if f.Verdict == ladder.Pass && (f.Method != "events" || f.Device != "GPU of a test" || f.MedianNS < 2e6 || f.L2 != test.cache.String() || f.Library != "torch of no GPU") {
			t.Errorf("%s: %+v, expected times of events", name, f)
		}
	}
}
