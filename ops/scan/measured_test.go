package scan

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// The committed times of small sizes are those of an H100, from 2^10 to 2^20, of our rungs
// and of CUB, and no time is shorter than a copy of the same bytes at 10 TB/s.
func TestMeasuredSmall(t *testing.T) {
	const name = "scan_small.h100"
	family := []*ladder.Operator{Operator}
	m, err := results.MeasuredRun(family, name)
	if errors.Is(err, gpu.ErrNotFound) {
		if _, err := fs.Stat(files, "measured/"+name+".json"); err != nil {
			t.Fatal(err)
		}
		t.Skip(err) // names the file and the command
	}
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.Device, "H100") || m.Date < "2026-11-25" || !strings.Contains(m.Method, "graph") {
		t.Errorf("%s does not state an H100, the date and graphs: %q, %q, %q", name, m.Device, m.Date, m.Method)
	}
	for n := 1 << 10; n <= 1<<20; n *= 4 {
		for _, line := range []string{"scan_look_back_wide", "scan_pipeline", "cub_scan"} {
			if us := m.TimeUS(line, n); !(us*1e-6 > Operator.Bytes(ladder.Size{n})/10e12) {
				t.Errorf("%s: %s at %d: %v us", name, line, n, us)
			}
		}
	}
	for _, peer := range []string{"cub_scan"} {
		if !slices.Contains(m.Names(), peer) || m.Ours(peer) {
			t.Errorf("%s: no figures of the peer %s", name, peer)
		}
	}
}
