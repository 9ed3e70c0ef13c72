package loader

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

const small = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"

func TestParse(t *testing.T) {
	info := gpu.Info{Name: "NVIDIA A100", Compute: gpu.Compute{Major: 8}, PTX: gpu.Version{Major: 8, Minor: 2}}
	remedy := func(v gpu.Version) string { return "remedy for " + v.String() }
	for _, c := range []struct {
		old, new string
		kind     error
		want     string
	}{
		{"", "", nil, ""},
		{"7.8", "8.2", nil, ""},
		{"7.8", "8.3", gpu.ErrUnsupported, "gpu: load k.ptx: unsupported: .version 8.3, expected at most 8.2 on NVIDIA A100: remedy for 8.3"},
		{"7.8", "9.0", gpu.ErrUnsupported, "gpu: load k.ptx: unsupported: .version 9.0, expected at most 8.2 on NVIDIA A100: remedy for 9.0"},
		{"7.8", "7", gpu.ErrMalformed, "gpu: load: malformed PTX: ptx: k.ptx:1:10: version '7', expected one such as 7.8"},
		{"sm_80", "sm_75", nil, ""}, {"sm_80", "sm_80a", nil, ""}, {"sm_80", "sm_80f", nil, ""},
		{"sm_80", "sm_90", gpu.ErrUnsupported, "gpu: load k.ptx: unsupported: .target sm_90 needs another GPU than NVIDIA A100: compile for sm_80 or an earlier one"},
		{"sm_80", "sm_75a", gpu.ErrUnsupported, "sm_75a needs another GPU"}, {"sm_80", "sm_75f", gpu.ErrUnsupported, "sm_75f needs another GPU"},
		{"sm_80", "compute_80", gpu.ErrMalformed, "gpu: load k.ptx: malformed PTX: .target compute_80, expected sm_ and a number"},
		{"size 64", "size 32", gpu.ErrUnsupported, "gpu: load k.ptx: unsupported: .address_size 32, expected 64"},
		{"ret;", "ret", gpu.ErrMalformed, "gpu: load: malformed PTX: ptx: k.ptx:4:27: expected ';' after instruction, found '}'"},
	} {
		m, err := Parse(info, "k.ptx", strings.Replace(small, c.old, c.new, 1), remedy)
		if !errors.Is(err, c.kind) || (m == nil) != (err != nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: %v, expected %s", c.old, c.new, err, c.want)
		}
	}
}

// A text is parsed once while its module is in use, and again for another name or text.
func TestParsedOnce(t *testing.T) {
	info := gpu.Info{Name: "NVIDIA A100", Compute: gpu.Compute{Major: 8}, PTX: gpu.Version{Major: 8, Minor: 2}}
	load := func(name, text string) *ptx.Module {
		t.Helper()
		m, err := Parse(info, name, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := load("once.ptx", small)
	if load("once.ptx", small) != m {
		t.Error("the same text was parsed twice")
	}
	if other := load("twice.ptx", small); other == m || other.Name != "twice.ptx" {
		t.Errorf("%s, expected a module of its own name", other.Name)
	}
	if load("once.ptx", small+"\n") == m {
		t.Error("another text has the same module")
	}
	runtime.KeepAlive(m)
	before := entries()
	m = nil
	for range 6000 {
		if runtime.GC(); entries() < before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d texts are kept after their modules", entries())
}

func entries() int {
	parsed.Lock()
	defer parsed.Unlock()
	return len(parsed.modules)
}
