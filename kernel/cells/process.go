//go:build cells && !js

package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"warpbook/kernel/leaf/release"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == release.Flag {
		fmt.Println(release.Name())
		return
	}
	const in, out, crash = 3, 4, 5
	syscall.CloseOnExec(in)       // a cell's subprocess must neither read requests
	syscall.CloseOnExec(out)      // nor keep the event pipe open after the program has ended
	syscall.SetNonblock(in, true) // so that no thread waits for a request
	runtime.MemProfileRate = sampled
	reportCrash(crash)
	paceCollections()
	requests, events := os.NewFile(in, "requests"), os.NewFile(out, "events")
	if err := serve(requests, events); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	endGroup()
}

// reportCrash makes the runtime write the reason for a crash to descriptor 5 too, so
// that cellproc can distinguish it from the output of cells. A program started by hand
// has no such pipe.
func reportCrash(descriptor uintptr) {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(descriptor), &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	f := os.NewFile(descriptor, "crash")
	defer f.Close()
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil { // the runtime keeps a copy of f
		fmt.Fprintln(os.Stderr, err)
	}
}

// endGroup ends the subprocesses that cells have left running. cellproc does so too,
// unless it was killed. A program started by hand shares its group with the shell that
// started it.
func endGroup() {
	if syscall.Getpgrp() == os.Getpid() {
		syscall.Kill(0, syscall.SIGKILL)
	}
}

// processorTime returns the processor time of this program so far.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// duplicate copies a descriptor. A cell's subprocess does not get the copy.
func duplicate(fd int) (int, error) {
	to, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(to)
	}
	return to, err
}
