package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// parentEnv names the environment variable that holds Jupyter's process number, because
// a script may run between Jupyter and the kernel.
const parentEnv = "JPY_PARENT_PID"

// sessionEnv names the environment variable that jupyter_server sets to the name of a
// notebook when it starts the kernel of a browser's tab.
const sessionEnv = "JPY_SESSION_NAME"

// jupyterEnded returns a function that returns the reason for the end of the kernel once
// Jupyter has ended, and "" until then. Wrappers such as srun and ssh pass the
// environment on, so the number may be that of another machine or of a process that has
// nothing to do with this kernel:
//
//   - The number of an ancestor is Jupyter's.
//   - The number of another living process is ignored, as is init's.
//   - The number of no process is ignored while the kernel's parent lives. Without its
//     parent, the kernel has lost Jupyter before it looked.
//
// Without a number the kernel does not end with the process that started it, such as
// a script with nohup.
func jupyterEnded() func() string {
	pid, _ := strconv.Atoi(os.Getenv(parentEnv))
	parent := os.Getppid()
	jupyter, alive := processOf(pid)
	reason := fmt.Sprintf("process %d, which %s names, has ended", pid, parentEnv)
	when := func(ended func() bool) func() string {
		return func() string {
			if ended() {
				return reason
			}
			return ""
		}
	}
	switch {
	case pid > 1 && !alive:
		return when(func() bool { now := os.Getppid(); return now != parent || now == 1 })
	case pid > 1 && isAncestor(pid):
		return when(func() bool {
			now, alive := processOf(pid)
			return !alive || now.started != jupyter.started || parent == pid && os.Getppid() != pid
		})
	}
	return when(func() bool { return false })
}

// process is what the system tells about a process.
type process struct {
	parent  int    // 0: unknown
	started string // time of its start: a later process may get its number
}

// processOf reports whether a process lives; one that its parent has not waited for does
// not. Without /proc only the number is compared.
func processOf(pid int) (p process, alive bool) {
	if pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return p, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, true
	}
	const state, parent, started = 0, 1, 19                         // after the name, which may hold spaces
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // proc(5)
	if len(fields) <= started {
		return p, true
	}
	p.parent, _ = strconv.Atoi(string(fields[parent]))
	p.started = string(fields[started])
	return p, string(fields[state]) != "Z"
}

// isAncestor reports whether a process has started this one, through others or not.
func isAncestor(pid int) bool {
	for at := os.Getppid(); at > 1; {
		if at == pid {
			return true
		}
		p, _ := processOf(at)
		at = p.parent
	}
	return false
}

// forTab reports whether jupyter_server has started the kernel for a tab of a browser. A
// batch run that a notebook starts inherits the name; its kernel's starter has the same.
func forTab() bool {
	name := os.Getenv(sessionEnv)
	if name == "" {
		return false
	}
	starter, _ := strconv.Atoi(os.Getenv(parentEnv))
	if _, alive := processOf(starter); !alive {
		starter = os.Getppid()
	}
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", starter))
	return !bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+sessionEnv+"="+name+"\x00"))
}
