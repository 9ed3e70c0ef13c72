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
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/history"
	"warpbook/kernel/jupyter"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/console"
	"warpbook/kernel/leaf/release"
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
	case len(args) == 1 && args[0] == release.Flag:
		fmt.Println(release.Name())
	case len(args) != 1:
		fmt.Fprintf(os.Stderr, "warpbook-kernel: %d arguments, expected Jupyter's connection file: open a notebook in Jupyter, which starts this program\n", len(args))
		os.Exit(statusUsage)
	default:
		os.Exit(run(args[0]))
	}
}

// A log that is not read delays nothing: that much of it waits, for so long at the end.
const (
	logBytes = 1 << 20
	logGrace = 200 * time.Millisecond
)

// run serves, and returns the exit status.
func run(file string) int {
	stderr := console.New(os.Stderr, logBytes)
	defer func() { stderr.Flush(console.After(nil, logGrace)) }()
	err := serve(file, stderr)
	if err == nil {
		return 0
	}
	remedy := ""
	if errors.Is(err, syscall.EADDRINUSE) {
		remedy = ": restart the kernel, for which Jupyter chooses other ports"
	}
	fmt.Fprintf(stderr, "warpbook-kernel: %v%s\n", err, remedy)
	return statusFailed
}

// serve is a Jupyter kernel until a client shuts it down. Jupyter starts it with the
// connection file of the kernelspec's {connection_file}.
func serve(file string, stderr io.Writer) error {
	ctx := untilEnd() // first, because the rest may take minutes
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w, expected Jupyter's connection file", err)
	}
	connection, err := jupyter.ParseConnection(data)
	if err == nil {
		err = choosePorts(&connection, file, data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	debug.SetGCPercent(collectPercent)
	log := logger(stderr)
	past := pastCells(log)
	kernel, err := server.New(connection, past, log)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	limit, err := cellproc.OutputLimit(usualLimit())
	if err != nil {
		return err
	}
	path, err := cellbuild.Cells(ctx, stderr)
	if ctx.Err() != nil {
		return fmt.Errorf("the kernel ends before it has begun: %w", context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	cells, err := cellproc.Start(cellproc.Config{Program: path, Env: append(past.Environment(), language(os.Getenv)...), Output: limit, Late: kernel.Late})
	if err != nil {
		return err
	}
	go interruptOnSignal(cells)
	return kernel.Run(ctx, cells)
}

// untilEnd returns a context that is cancelled, with the reason as its cause, when the
// kernel must end without a request of a client.
func untilEnd() context.Context {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	ended := jupyterEnded()
	go func() {
		for reason := ""; ; reason = ended() {
			if reason != "" {
				stop(errors.New(reason))
				return
			}
			select {
			case s := <-signals:
				stop(fmt.Errorf("signal %v", s))
				return
			case <-time.After(time.Second):
			}
		}
	}()
	return ctx
}

// choosePorts chooses a port for each 0 in the connection file, and writes the ports into
// the file.
func choosePorts(connection *jupyter.Connection, file string, data []byte) error {
	chosen, err := connection.ChoosePorts(data)
	if err != nil || chosen == nil {
		return err
	}
	return atomicfile.WriteMode(file, 0o600, func(w io.Writer) error { _, err := w.Write(chosen); return err })
}

// usualLimit is the limit of output that protects a tab. A batch run gets all output.
func usualLimit() cellproc.Limit {
	if forTab() {
		return cellproc.Tab
	}
	return cellproc.Limit{}
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

func logger(stderr io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv(debugEnv) != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}
