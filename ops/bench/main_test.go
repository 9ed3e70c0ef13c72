package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/peers"
)

// A run prints a whole line for each variant and turn, verified.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	args := strings.Fields("reduce --size 1000 --size 70 --variants cpu_serial,reduce_last_block --device emu --repeats 3 --seed 5 --turns 2")
	if err := run(args, &out, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		var f peers.Figure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if f.Verdict != "PASS" || f.MedianNS <= 0 || f.Repeats != 3 || f.Method != "emulator time" || f.Environment == nil {
			t.Errorf("%+v", f)
		}
		names = append(names, fmt.Sprint(f.Name, f.Size))
	}
	if strings.Join(names, " ") != strings.Repeat("cpu_serial[1000] reduce_last_block[1000] ", 2)+"cpu_serial[70] reduce_last_block[70] cpu_serial[70] reduce_last_block[70]" {
		t.Errorf("figures of %q", names)
	}
}

// A wrong result is a line without times, and an error.
func TestWrong(t *testing.T) {
	var out bytes.Buffer
	err := run(strings.Fields("reduce_mistakes --size 2560 --variants mistake_block_offset --device emu"), &out, io.Discard, nil)
	if err == nil || !strings.Contains(out.String(), `"verdict":"FAIL (expected)"`) || strings.Contains(out.String(), "median_ns") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// What a device cannot run is told and left out, unless it is named.
func TestLeftOut(t *testing.T) {
	var log bytes.Buffer
	args := strings.Fields("gemm_tf32 --size 16,16,16 --device emu:t4")
	if err := run(args, io.Discard, &log, nil); err != nil || !strings.Contains(log.String(), "bench: not run: ops: gemm_tf32_wmma: unsupported") {
		t.Errorf("%v, log %s", err, log.String())
	}
	if err := run(append(args, "--variants", "gemm_tf32_wmma", "--skip"), io.Discard, io.Discard, nil); err != nil {
		t.Errorf("%v, expected it to be left out", err)
	}
	if err := run(append(args, "--variants", "gemm_tf32_wmma"), io.Discard, io.Discard, nil); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("%v, expected %v", err, gpu.ErrUnsupported)
	}
}

func TestInterrupt(t *testing.T) {
	stopped := make(chan os.Signal, 1)
	log := &interrupts{stopped: stopped}
	err := run(strings.Fields("reduce --size 1000000 --variants reduce_serial,cpu_serial --device emu --repeats 1000"), io.Discard, log, stopped)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v, expected an interrupt", err)
	}
}

// interrupts sends a signal when the first variant is announced.
type interrupts struct {
	stopped chan<- os.Signal
	told    bool
}

func (i *interrupts) Write(b []byte) (int, error) {
	if !i.told {
		i.told = true
		i.stopped <- os.Interrupt
	}
	return len(b), nil
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                     "go run ./ops/bench --help",
		"reduce":                               "--size",
		"reduce --size x":                      `"x" is no number`,
		"redcue --size 3":                      "expected one such as reduce",
		"reduce --size 3 --l2 cold":            "expected one of",
		"reduce --size 3 --variants reduce_v2": "reduce_v2_sequential",
		"reduce --size 3,4":                    "expected n",
		"reduce --size 3 --device nothing":     "expected one of",
		"reduce --size 3 --turns 0":            "--turns",
		"reduce --size 3 more":                 "--help",
		"reduce --size 3 --clock graph --l2 flushed": "take rotated",
	} {
		err := run(strings.Fields(args), io.Discard, io.Discard, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, expected a line that says %q", args, err, want)
		}
	}
	var help bytes.Buffer
	if err := run([]string{"--help"}, io.Discard, &help, nil); err != flag.ErrHelp || !strings.Contains(help.String(), "operators: reduce") {
		t.Errorf("--help: %v, %q", err, help.String())
	}
}
