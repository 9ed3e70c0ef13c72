package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The numbers that the variable may have beside those of living processes.
const (
	noProcess    = 1 << 30
	otherProcess = -1 // a process that a test has started
)

// TestEndsWithJupyter: the kernel ends with Jupyter, and with no other process. Its log
// has one line with the reason.
func TestEndsWithJupyter(t *testing.T) {
	named := fmt.Sprintf("echo $$ > named; export %s=$$; ", parentEnv)
	for name, test := range map[string]struct {
		env    int    // what the variable names; 0: it is not set
		script string // starts the kernel in the background
		kill   string // a file with the number of the process that is killed
		ends   string // in the reason; "" if the kernel does not end
	}{
		"the parent is Jupyter":                             {0, named + "$KERNEL & wait", "named", "which JPY_PARENT_PID names, has ended"},
		"a script runs between":                             {0, named + "sh -c '$KERNEL & wait' & wait", "named", "which JPY_PARENT_PID names, has ended"},
		"the number is of no process, the parent ends":      {noProcess, "$KERNEL & wait", "parent", "process 1073741824, which"},
		"the number is of no process, the parent lives":     {noProcess, "$KERNEL & wait", "", ""},
		"the number is of another process, which ends":      {otherProcess, "$KERNEL & wait", "other", ""},
		"the number is of another process, the parent ends": {otherProcess, "$KERNEL & wait", "parent", ""},
		"init":                       {1, "$KERNEL & wait", "parent", ""},
		"no number, the parent ends": {0, "$KERNEL & wait", "parent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			other := exec.Command("sleep", "1000")
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			go other.Wait()
			defer other.Process.Kill()
			p.write("other", fmt.Sprint(other.Process.Pid))
			p.write("kernel", "#!/bin/sh\necho $$ > pid\nexec ./warpbook-kernel kernel.json 2> log\n")
			_, connection := p.connectionFile(unchanged)
			parent := p.kernel()
			parent.Path, parent.Args = "/bin/sh", []string{"sh", "-c", "echo $$ > parent; " + test.script}
			parent.Env = append(parent.Env, "KERNEL=./kernel", parentEnv+"=")
			switch test.env {
			case 0:
			case otherProcess:
				parent.Env = append(parent.Env, fmt.Sprintf("%s=%d", parentEnv, other.Process.Pid))
			default:
				parent.Env = append(parent.Env, fmt.Sprintf("%s=%d", parentEnv, test.env))
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			go parent.Wait()
			defer parent.Process.Kill()
			control := ask(t, connection, connection.Control)
			control.send("kernel_info_request", `{}`)
			control.receive(`"status":"ok"`)
			if test.kill != "" {
				syscall.Kill(p.number(test.kill), syscall.SIGKILL)
			}
			if test.ends != "" {
				p.awaitEnd("pid", "the kernel outlived Jupyter")
				if log := p.read("log"); strings.Count(log, "\n") != 1 || !strings.Contains(log, "the kernel ends: ") || !strings.Contains(log, test.ends) {
					t.Errorf("the log is %q, want a line with %q", log, test.ends)
				}
				return
			}
			time.Sleep(1200 * time.Millisecond) // the kernel looks each second
			control.send("shutdown_request", `{"restart":true}`)
			control.receive(`"restart":true`)
			p.awaitEnd("pid", "the kernel outlived a shutdown")
			if log := p.read("log"); strings.Count(log, "\n") != 1 || !strings.Contains(log, "the kernel ends: a client has asked for a restart") {
				t.Errorf("the log is %q, want a line about the restart", log)
			}
		})
	}
}

// TestSignalsAreReasons: a signal that ends the kernel is a line in its log.
func TestSignalsAreReasons(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) { // of a test under nohup, which the kernel inherits and obeys
			continue
		}
		p := newPlace(t)
		file, connection := p.connectionFile(unchanged)
		c := p.kernel(file)
		var log strings.Builder
		c.Stderr = &log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		control := ask(t, connection, connection.Control)
		control.send("kernel_info_request", `{}`)
		control.receive(`"status":"ok"`)
		c.Process.Signal(s)
		if err := c.Wait(); err != nil || !strings.Contains(log.String(), "the kernel ends: signal "+s.String()) {
			t.Errorf("%v: %v, log %q", s, err, &log)
		}
	}
}

// TestFullStandardError: a standard error that is not read holds up no request and no
// end.
func TestFullStandardError(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	for err == nil {
		_, err = w.WriteString(strings.Repeat("x", 1<<10))
	}
	p := newPlace(t)
	file, connection := p.connectionFile(unchanged)
	c := p.kernel(file)
	c.Env = append(c.Environ(), debugEnv+"=1")
	c.Stderr = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	defer c.Process.Kill()
	hung := time.AfterFunc(maxWait, func() { c.Process.Kill() })
	control := ask(t, connection, connection.Control)
	for range 100 {
		control.send("unknown", `{}`) // logged
	}
	control.send("shutdown_request", `{}`)
	control.receive(`"status":"ok"`)
	if err := c.Wait(); err != nil || !hung.Stop() {
		t.Errorf("ended with %v", err)
	}
}

// TestOutputOfATab: only a kernel that jupyter_server starts for a tab limits output;
// one that a batch run in a cell starts inherits the name of the session.
func TestOutputOfATab(t *testing.T) {
	for name, test := range map[string]struct {
		starter, kernel string // the variable in the environments of both
		limited         bool
	}{
		"batch":          {"", "", false},
		"tab":            {"", "a.ipynb", true},
		"batch in a tab": {"a.ipynb", "a.ipynb", false},
		"tab in a tab":   {"a.ipynb", "b.ipynb", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file, connection := p.connectionFile(unchanged)
			c := p.kernel()
			c.Path, c.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf("export %s=$$; %s=%s ./warpbook-kernel %s & wait", parentEnv, sessionEnv, test.kernel, file)}
			c.Env = append(c.Environ(), sessionEnv+"="+test.starter)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer c.Wait()
			defer c.Process.Kill()
			iopub := subscribe(t, connection)
			shell := ask(t, connection, connection.Shell)
			shell.send("execute_request", `{"code":"lines 10001\nout last"}`)
			shell.receive(`"status":"ok"`)
			text := iopub.streams()
			if limited := !strings.Contains(text, "last"); limited != test.limited {
				t.Errorf("limited: %v, the cell's output ends in %q", limited, text[max(0, len(text)-200):])
			}
		})
	}
}

// orphanage is a process that starts a kernel, writes the kernel's number into the file
// pid, and waits.
func (p *place) orphanage(connection string) *exec.Cmd {
	parent := p.kernel()
	parent.Path, parent.Args = "/bin/sh", []string{"sh", "-c", p.path("warpbook-kernel") + " " + connection + " & echo $! > pid; wait"}
	return parent
}

// awaitEnd waits until the process with the number in a file has ended.
func (p *place) awaitEnd(file, complaint string) {
	p.t.Helper()
	pid := p.number(file)
	for deadline := time.Now().Add(maxWait); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(state), ") Z ") {
			return // ended; a zombie until its parent waits for it
		}
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			p.t.Fatal(complaint)
		}
	}
}

// number reads the number of a process from a file.
func (p *place) number(file string) int {
	p.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(p.read(file)))
	if err != nil {
		p.t.Fatal(err)
	}
	return pid
}
