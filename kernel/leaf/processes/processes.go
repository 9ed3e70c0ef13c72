//go:build !js

// Package processes ends processes that cells have started, with those that they have
// started in turn. Package cellproc uses it when a session ends, the engine when a cell
// is interrupted. It reads Linux's /proc; elsewhere KillTree ends one process, and
// KillMarked none.
package processes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillTree ends a process and its descendants. Each is stopped before its children are
// listed, so that it starts no other meanwhile. The error is that of ending the process.
func KillTree(pid int) error {
	tree := []int{pid}
	for i := 0; i < len(tree); i++ {
		if syscall.Kill(tree[i], syscall.SIGSTOP) == nil {
			tree = append(tree, children(tree[i])...)
		}
	}
	for _, p := range tree[1:] {
		syscall.Kill(p, syscall.SIGKILL)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// children returns the processes that a process has started and that live.
func children(pid int) (list []int) {
	for _, p := range all() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // state, parent, ...; proc(5)
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(pid) {
			list = append(list, p)
		}
	}
	return list
}

// rounds bounds how often KillMarked looks for processes that others have started
// meanwhile.
const rounds = 100

// KillMarked ends the processes that have a variable in the environment that they were
// started with, such as "NAME=VALUE", also those in sessions of their own. It spares this
// process.
func KillMarked(variable string) {
	for range rounds {
		found := false
		for _, p := range all() {
			if p != os.Getpid() && isMarked(p, variable) {
				found = syscall.Kill(p, syscall.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
	}
}

func isMarked(pid int, variable string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // empty for a process that has ended
	return err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00"))
}

// all returns the numbers of all processes.
func all() (list []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, path := range paths {
		if pid, err := strconv.Atoi(filepath.Base(path)); err == nil {
			list = append(list, pid)
		}
	}
	return list
}
