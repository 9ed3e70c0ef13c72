// Command warpbook-kernel is the Jupyter kernel that Jupyter starts:
//
//	warpbook-kernel FILE    answer on the sockets of a connection file
//
// install builds it and registers it with Jupyter. It runs no cells: it starts the cells
// program, which package cellproc drives, and package server speaks the protocol. It is a
// program of its own because it stays in memory as long as the notebook is open: it must
// import nothing of reports, figures and comparisons, whose packages fill tables when a
// program starts.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/history"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/server"
)

// debugEnv names the environment variable that makes the kernel log the messages it
// rejects.
const debugEnv = "WARPBOOK_DEBUG"

// collectPercent lets the heap, of which 1 to 2 MB are used, grow to 8 MB before a
// collection, which comes every 650 small cells. At 3 MB it came every 110.
const collectPercent = 200

// The exit statuses.
const (
	statusFailed = 1
	statusUsage  = 2
)

const usage = "warpbook-kernel: the Go kernel that Jupyter starts; go run ./install registers it\n\nusage: warpbook-kernel CONNECTION-FILE\n"

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 1 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help"):
		fmt.Print(usage)
	case len(args) != 1:
		fmt.Fprintf(os.Stderr, "warpbook-kernel: %d arguments, expected Jupyter's connection file: open a notebook in Jupyter, which starts this program\n", len(args))
		os.Exit(statusUsage)
	default:
		if err := serve(args[0]); err != nil {
			remedy := ""
			if errors.Is(err, syscall.EADDRINUSE) {
				remedy = ": restart the kernel, for which Jupyter chooses other ports"
			}
			fmt.Fprintf(os.Stderr, "warpbook-kernel: %v%s\n", err, remedy)
			os.Exit(statusFailed)
		}
	}
}

// serve is a Jupyter kernel until a client shuts it down. Jupyter starts it with the
// connection file of the kernelspec's {connection_file}.
func serve(file string) error {
	ended := parentEnded() // first, because the rest may take minutes
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		for !ended() {
			time.Sleep(time.Second)
		}
		stop()
	}()
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w, expected Jupyter's connection file", err)
	}
	connection, err := jupyter.ParseConnection(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	debug.SetGCPercent(collectPercent)
	log := logger()
	past := pastCells(log)
	kernel, err := server.New(connection, past, log)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	limit, err := cellproc.OutputLimit(cellproc.TabLines)
	if err != nil {
		return err
	}
	path, err := cellbuild.Cells(ctx, os.Stderr)
	if err != nil {
		return err
	}
	cells, err := cellproc.Start(cellproc.Config{Program: path, Env: past.Environment(), Output: limit, Late: kernel.Late})
	if err != nil {
		return err
	}
	go interruptOnSignal(cells)
	return kernel.Run(ctx, cells)
}

// pastCells returns the history that all kernels of the user share, or one in memory if
// its file cannot be used.
func pastCells(log *slog.Logger) *history.History {
	path := ""
	dir, err := kernelspec.DataDir()
	if err == nil {
		path = filepath.Join(dir, "history.jsonl")
	}
	past, openErr := history.Open(path)
	if err := errors.Join(err, openErr); err != nil {
		log.Warn("the history is not kept: " + err.Error())
	}
	return past
}

// interruptOnSignal makes SIGINT, which a terminal sends to the whole group, interrupt
// the running cell instead of ending the kernel.
func interruptOnSignal(cells *cellproc.Client) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	for range signals {
		cells.Interrupt()
	}
}

// parentEnv names the environment variable that holds Jupyter's process number, because
// a script may run between Jupyter and the kernel.
const parentEnv = "JPY_PARENT_PID"

// parentEnded returns a function that reports whether the current parent process has
// ended: its children then get another parent. Process 1 counts as a normal parent, as
// in containers, where Jupyter's number may also be meaningless.
func parentEnded() func() bool {
	parent := os.Getppid()
	jupyter, _ := strconv.Atoi(os.Getenv(parentEnv))
	named := isAlive(jupyter)
	return func() bool { return os.Getppid() != parent || isAlive(jupyter) != named }
}

// isAlive reports whether a process with that number exists.
func isAlive(pid int) bool {
	return pid > 0 && syscall.Kill(pid, 0) != syscall.ESRCH
}

func logger() *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv(debugEnv) != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
