package monitor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Process is another process on the GPU.
type Process struct {
	PID     int
	Name    string
	Compute bool // and no graphics: a browser or a display has both
	Busy    int  // per cent of the multiprocessors' time, over the last second; -1 if nvidia-smi does not report it
}

func (p Process) String() string { return fmt.Sprintf("%s (process %d)", p.Name, p.PID) }

// patience bounds how long nvidia-smi may take.
const patience = 10 * time.Second

// ask returns the lines that nvidia-smi prints.
func ask(ctx context.Context, args ...string) ([]string, error) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	out, err := exec.CommandContext(ctx, Program[0], append(Program[1:], args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("monitor: nvidia-smi: %w", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// Others are the processes on a GPU that this process has not started. Their load is
// queried only if there are any, because the query takes a second. In a container,
// processes outside of it are not visible.
func Others(ctx context.Context, gpu string) ([]Process, error) {
	lines, err := ask(ctx, "-i", gpu, "--query-compute-apps=pid", "--format=csv,noheader")
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(lines, func(line string) bool {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		return err == nil && !ours(pid)
	}) {
		return nil, nil
	}
	if lines, err = ask(ctx, "pmon", "-i", gpu, "-c", "1", "-s", "u"); err != nil {
		return nil, err
	}
	return parseProcesses(lines), nil
}

// parseProcesses reads lines "0  1234  C  97  40  -  -  -  -  python3"; the
// columns are named by a line that begins with #.
func parseProcesses(lines []string) (others []Process) {
	var columns []string
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) > 0 && strings.HasPrefix(fields[0], "#") {
			if slices.Contains(fields, "pid") {
				columns = fields[min(1, len(fields)-1):]
				if fields[0] != "#" { // "#gpu" in one word
					columns = append([]string{fields[0][1:]}, fields[1:]...)
				}
			}
			continue
		}
		at := func(name string) string {
			if i := slices.Index(columns, name); i >= 0 && i < len(fields) {
				return fields[i]
			}
			return "-"
		}
		pid, err := strconv.Atoi(at("pid"))
		if err != nil || ours(pid) {
			continue
		}
		p := Process{PID: pid, Name: at("command"), Compute: at("type") == "C", Busy: -1}
		if busy, err := strconv.Atoi(at("sm")); err == nil {
			p.Busy = busy
		}
		others = append(others, p)
	}
	return others
}

// ours reports whether a process is this one or descends from it, as the worker
// does.
func ours(pid int) bool {
	for pid > 1 {
		if pid == os.Getpid() {
			return true
		}
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			return false
		}
		// pid (name, which may hold anything) state parent ...
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return false
		}
	}
	return false
}
