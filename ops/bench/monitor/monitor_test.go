package monitor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// smi puts a script in the place of nvidia-smi.
func smi(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "smi")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	before := Program
	Program = []string{path}
	t.Cleanup(func() { Program = before })
}

func TestParseState(t *testing.T) {
	for line, want := range map[string]string{
		"1980, 586.76, 48, 0x0000000000000000": "1980 MHz, 587 W",
		"1665, 701.2, 70, 0x0000000000000004":  "1665 MHz, 701 W, software power cap",
		"210, 80.1, 88, 0x0000000000000028":    "210 MHz, 80 W, hardware slow-down, software thermal slow-down",
		"1980, [N/A], [N/A], [N/A]":            "1980 MHz, 0 W",
		"[N/A], 1, 2, 0x0":                     "",
		"No devices were found":                "",
		"":                                     "",
		"1,2,3,4,5":                            "",
	} {
		s, ok := parseState(line)
		if ok != (want != "") || ok && s.String() != want {
			t.Errorf("%q: %v, %v, expected %q", line, s, ok, want)
		}
	}
	if r := PowerCap | Idle; r.Unfair() != 0 {
		t.Errorf("%v is unfair", r)
	}
	if r := PowerCap | HardwareThermal; r.Unfair() != HardwareThermal {
		t.Errorf("%v: unfair are %v", r, r.Unfair())
	}
}

// The state over a while is the worst of it, of what came since its start.
func TestSince(t *testing.T) {
	later := filepath.Join(t.TempDir(), "later")
	smi(t, `echo 1980, 100, 40, 0x0; until [ -e `+later+` ]; do sleep 0.01; done; echo 1500, 300, 60, 0x4; echo 345, 90, 40, 0x1; echo 1600, 650, 50, 0x20; sleep 60`)
	m, err := Watch("0")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	until := func(start time.Time, came func(State) bool) (s State) { // a busy machine may keep the script waiting
		for deadline := time.Now().Add(time.Minute); !came(s) && time.Now().Before(deadline); {
			s = m.Since(start)
		}
		return s
	}
	if s := until(time.Time{}, func(s State) bool { return s.ClockMHz != 0 }); s.ClockMHz != 1980 {
		t.Errorf("first %v, expected 1980 MHz", s)
	}
	start := time.Now()
	if err := os.WriteFile(later, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := until(start, func(s State) bool { return s.PowerW == 650 })
	if s.ClockMHz != 1500 || s.PowerW != 650 || s.Reasons != PowerCap|SoftwareThermal {
		t.Errorf("%v, expected the lowest clock of a busy GPU, the highest power and both reasons", s)
	}
}

// Without samples it does not wait for ever.
func TestSinceWithoutSamples(t *testing.T) {
	for _, script := range []string{"exec sleep 3600", "exit 1", "echo No devices were found"} {
		smi(t, script)
		m, err := Watch("0")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if s := m.Since(start); s.ClockMHz != 0 || time.Since(start) > time.Minute {
			t.Errorf("%s: %v after %v", script, s, time.Since(start))
		}
		m.Close()
	}
	Program = []string{filepath.Join(t.TempDir(), "nothing")}
	if _, err := Watch("0"); err == nil || !strings.Contains(err.Error(), "nvidia-smi") {
		t.Errorf("%v, expected it to name nvidia-smi", err)
	}
}

// A process that this one started is not another one's.
func TestOthers(t *testing.T) {
	worker := exec.Command("sleep", "60")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { worker.Process.Kill(); worker.Wait() }()
	smi(t, fmt.Sprintf(`case "$*" in
*query-compute-apps*) printf '%%s\n' %d %d 1;;
*pmon*) echo '# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command'
	echo '# Idx           #    C/G      %%      %%      %%      %%      %%      %%    name'
	echo '    0       %d      C     90     10      -      -      -      -    ours'
	echo '    0       %d      C     80     10      -      -      -      -    worker'
	echo '    0          1      C     97     40      -      -      -      -    python3'
	echo '    0          2    C+G      -      -      -      -      -      -    firefox';;
esac
`, os.Getpid(), worker.Process.Pid, os.Getpid(), worker.Process.Pid))
	others, err := Others(context.Background(), "0")
	if err != nil || len(others) != 2 {
		t.Fatalf("%v, %v, expected two processes", others, err)
	}
	if p := others[0]; p.PID != 1 || p.Name != "python3" || !p.Compute || p.Busy != 97 {
		t.Errorf("%+v, expected python3 with 97 %%", p)
	}
	if p := others[1]; p.Name != "firefox" || p.Compute || p.Busy != -1 {
		t.Errorf("%+v, expected a browser that is idle", p)
	}
	smi(t, `case "$*" in *query*) echo '[Insufficient Permissions]';; *) exit 9;; esac`)
	if others, err := Others(context.Background(), "0"); err != nil || others != nil {
		t.Errorf("%v, %v, expected nothing", others, err)
	}
	smi(t, "exit 9")
	if _, err := Others(context.Background(), "0"); err == nil {
		t.Error("no error of a tool that fails")
	}
}

func TestProfiler(t *testing.T) {
	for _, p := range profilers {
		t.Setenv(p.variable, "")
	}
	t.Setenv("LD_PRELOAD", "")
	if tool := Profiler(); tool != "" {
		t.Errorf("%q under nothing", tool)
	}
	for _, p := range profilers {
		t.Setenv(p.variable, "1")
		if tool := Profiler(); !strings.Contains(tool, p.variable) {
			t.Errorf("%q, expected it to name %s", tool, p.variable)
		}
		t.Setenv(p.variable, "")
	}
}
