package tool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// fromGPU is an entry as package cuda has it: with its PTX.
type fromGPU struct{ gpu.Entry }

func (fromGPU) PTX() (name, text string) { return "neighbours.ptx", neighbours }

// A launch of a GPU is counted and checked on copies: its own buffers stay as
// they are.
func TestEmulation(t *testing.T) {
	dev, l, y := open(t)
	if err := dev.Zero(y); err != nil {
		t.Fatal(err)
	}
	e := &emulation{info: dev.Info()}
	t.Cleanup(e.close)
	if _, note, _ := e.run(l); !strings.Contains(note, "its PTX is not known") {
		t.Errorf("an entry without PTX: %q", note)
	}
	l.Entry = fromGPU{l.Entry}
	for range 2 { // the module is loaded once
		counters, note, fault := e.run(l)
		if fault != nil || note != "" || counters.GlobalStore.Requests != 2 {
			t.Errorf("%d stores, %v, %q, expected 2", counters.GlobalStore.Requests, fault, note)
		}
	}
	l.Checks = gpu.CheckRaces
	if _, _, fault := e.run(l); !errors.Is(fault, gpu.ErrRace) {
		t.Errorf("%v, expected a race", fault)
	}
	got := make([]uint32, 65)
	if err := y.Download(got); err != nil || got[64] != 0 || got[1] != 0 {
		t.Errorf("the launch's own buffer was written: %v, %v", got, err)
	}
	big, err := dev.Alloc(gpu.Uint8, emulated+1)
	if err != nil {
		t.Fatal(err)
	}
	l.Args = []any{big, uint32(1)}
	if _, note, _ := e.run(l); !strings.Contains(note, "more than 256 MiB") {
		t.Errorf("too much to copy: %q", note)
	}
}

// stub is an emulator that poses as a GPU: its launches are observed, and its tool
// writes a report.
type stub struct {
	gpu.Device
	observer gpu.Observer
	report   string
	command  []string
}

func (s *stub) Observe(o gpu.Observer) { s.observer = o }

func (s *stub) Launch(l gpu.Launch) error {
	if s.observer != nil {
		return s.observer(l, s.Device.Launch)
	}
	return s.Device.Launch(l)
}

func (s *stub) Under(tool ...string) (func() error, error) {
	s.command = tool
	at := slices.Index(tool, "--log-file")
	return func() error { return os.WriteFile(tool[at+1], []byte(s.report), 0o600) }, nil
}

// TestOnGPU checks the tool's command line, and that its report stands beside the
// emulator's counters.
func TestOnGPU(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ncu"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	dev, l, y := open(t)
	if err := dev.Zero(y); err != nil {
		t.Fatal(err)
	}
	l.Entry = fromGPU{l.Entry}
	s := &stub{Device: dev, report: `"ID","Kernel Name","Block Size","Grid Size","l1tex__t_requests_pipe_lsu_mem_global_op_st.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
"","","","","",""
"0","neighbours","(64, 1, 1)","(1, 1, 1)","2","9"
`}
	p := &profiler{metrics: []string{"sm__cycles_active.avg"}}
	w := &watched{device: s}
	if err := w.start(p, filepath.Join(dir, "report")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.command, " "); !strings.HasPrefix(got, dir+"/ncu --csv") || !strings.Contains(got, ",sm__cycles_active.avg") {
		t.Errorf("started as %s", got)
	}
	s.Launch(l) // the stub's device does not know the entry; the observer does
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	tables, err := w.tables(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"|global store requests|2|2|equal\n", "|global store sectors|9|8|DIFFERENT\n", "|sm__cycles_active.avg|not measured on this GPU|-|-\n"} {
		if !strings.Contains(text(tables), want) {
			t.Errorf("no %q in\n%s", want, text(tables))
		}
	}
}
