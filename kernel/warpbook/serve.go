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

	"warpbook/kernel/heap"
	"warpbook/kernel/history"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/program"
	"warpbook/kernel/server"
	"warpbook/kernel/session"
	"warpbook/kernel/wire"
)

// debugEnv names the environment variable that makes the kernel log what it
// turns away.
const debugEnv = "WARPBOOK_DEBUG"

// collectPercent has the heap, of which 1 to 2 MB are used, collected from 8 MB on,
// every 650 small cells. From 3 MB on, it was every 110.
const collectPercent = 200

// fillDelay lets the start and a first cell go before the heap is filled.
const fillDelay = 200 * time.Millisecond

// serveCommand is a Jupyter kernel until a client shuts it down. Jupyter starts
// it with the connection file of the kernelspec's {connection_file}.
func serveCommand(args []string) error {
	files, err := parse(newFlags("serve"), args, 1)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	connection, err := wire.ParseConnection(data)
	if err != nil {
		return fmt.Errorf("serve %s: %w", files[0], err)
	}
	debug.SetGCPercent(collectPercent)
	log := logger()
	past := pastCells(log)
	kernel, err := server.New(connection, past, log)
	if err != nil {
		return fmt.Errorf("serve %s: %w", files[0], err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	limit, err := session.OutputLimit()
	if err != nil {
		return err
	}
	path, err := program.Cells(ctx, os.Stderr)
	if err != nil {
		return err
	}
	cells, err := session.Start(session.Config{Program: path, Env: past.Environment(), OutputBytes: limit, Late: kernel.Late})
	if err != nil {
		return err
	}
	go interruptOnSignal(cells)
	go stopWithParent(stop)
	time.AfterFunc(fillDelay, heap.Fill)
	return kernel.Run(ctx, cells)
}

// pastCells is the history that all kernels of the user share. Without its
// file there is one in memory.
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

// interruptOnSignal makes SIGINT, which a terminal sends to the whole group,
// the interrupt of the running cell and not the end of the kernel.
func interruptOnSignal(cells *session.Session) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	for range signals {
		cells.Interrupt()
	}
}

// parentEnv names the environment variable in which Jupyter says which process
// it is, since a script may stand between it and the kernel.
const parentEnv = "JPY_PARENT_PID"

// stopWithParent ends the kernel when the process that started it is gone: its
// children then get another parent. To begin with, 1 is a parent like any
// other, as in containers, where Jupyter's number may also mean nothing.
func stopWithParent(stop func()) {
	parent := os.Getppid()
	jupyter, _ := strconv.Atoi(os.Getenv(parentEnv))
	named := runs(jupyter)
	for os.Getppid() == parent && runs(jupyter) == named {
		time.Sleep(time.Second)
	}
	stop()
}

// runs says whether there is a process of that number.
func runs(pid int) bool {
	return pid > 0 && syscall.Kill(pid, 0) != syscall.ESRCH
}

func logger() *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv(debugEnv) != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
