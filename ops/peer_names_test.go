package ops

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/peers"
)

// Every figure that a peer has printed in a kept run can be asked for by its name.
func TestPeerNames(t *testing.T) {
	kept, err := filepath.Glob("headlines/*/*.jsonl.gz")
	if err != nil || len(kept) == 0 {
		t.Fatalf("%v, no kept runs", err)
	}
	checked := 0
	for _, path := range kept {
		data, err := peers.ReadKept(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(strings.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var f peers.Figure
			if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
				t.Fatal(err)
			}
			if f.Library == "" {
				continue
			}
			o, err := Find(f.Operator)
			if err != nil {
				t.Fatal(err)
			}
			set := peers.Set{Operator: o.Name, Programs: o.Peers, Files: o.Files}
			if err := set.CheckNames([]string{f.Name}); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if err := set.CheckNames([]string{f.Name + "_"}); !errors.Is(err, gpu.ErrNotFound) {
				t.Errorf("%s_: %v, expected that it is not found", f.Name, err)
			}
			checked++
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if checked == 0 {
		t.Error("no figure of a peer in the kept runs")
	}
}

// An unknown name is answered by names of figures, each once, not by keys of the sources.
func TestUnknownPeer(t *testing.T) {
	set := peers.Set{Operator: Reduce.Name, Programs: Reduce.Peers, Files: Reduce.Files}
	err := set.CheckNames([]string{"torch_sun"})
	if err == nil || !strings.HasSuffix(err.Error(), "expected one such as torch_sum, torch_dot, torch_compile") {
		t.Errorf("%v, expected names like torch_sum", err)
	}
}

// The peers of each operator are a list with those that were tried and lost, so that the
// fastest library of a table can be doubted.
func TestPeersAreLists(t *testing.T) {
	folders, err := filepath.Glob("*/peers")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%v, no peers", err)
	}
	for _, folder := range folders {
		programs, err := filepath.Glob(folder + "/*.py")
		if err != nil {
			t.Fatal(err)
		}
		lost := false
		for _, path := range programs {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lost = lost || bytes.Contains(bytes.ToLower(text), []byte("tried and lost"))
			if bytes.Contains(text, []byte("not run yet")) {
				t.Errorf("%s: a peer that was \"not run yet\", expected that it runs, or is left out", path)
			}
		}
		if !lost {
			t.Errorf("%s: no program says which calls were \"tried and lost\"", folder)
		}
	}
}
