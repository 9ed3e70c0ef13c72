package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script starts a process that starts others, one of them in a session of its own, and
// returns the command and the numbers of all four.
func script(t *testing.T, env ...string) (*exec.Cmd, []int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are listed on Linux only")
	}
	dir := t.TempDir()
	c := exec.Command("sh", "-c", `sh -c 'sleep 1000 & echo $! > b; echo $$ > a; wait' & setsid sleep 1000 & echo $! > c; wait`)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{c.Process.Pid}
	for _, name := range []string{"a", "b", "c"} {
		for {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				pids = append(pids, pid)
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	t.Cleanup(func() {
		for _, p := range pids {
			syscall.Kill(p, syscall.SIGKILL)
		}
	})
	return c, pids
}

// ended waits until processes have ended.
func ended(t *testing.T, pids []int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		living := 0
		for _, p := range pids {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/stat")
			if err == nil && !strings.Contains(string(stat), ") Z ") {
				living++
			}
		}
		if living == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d processes live", living, len(pids))
		}
	}
}

func TestKillTree(t *testing.T) {
	c, pids := script(t)
	if err := KillTree(c.Process.Pid); err != nil {
		t.Error(err)
	}
	c.Wait()
	ended(t, pids)
	if err := KillTree(c.Process.Pid); err != syscall.ESRCH {
		t.Errorf("an ended process: %v", err)
	}
}

func TestKillMarked(t *testing.T) {
	const other = "WARPBOOK_TEST_MARK=other"
	mark := "WARPBOOK_TEST_MARK=" + t.TempDir()
	c, pids := script(t, mark)
	beside, spared := script(t, other)
	KillMarked(mark)
	c.Wait()
	ended(t, pids)
	for _, p := range spared {
		if err := syscall.Kill(p, 0); err != nil {
			t.Errorf("a process with another mark: %v", err)
		}
	}
	KillMarked(other)
	beside.Wait()
	ended(t, spared)
}
