// Command bench verifies and times the variants of an operator and prints a
// figure a line as JSON: of ours, then of the peers that are there.
//
//	go run ./ops/cmd/bench reduce --size 25600000 --l2 flushed > figures.jsonl
//	go run ./ops/cmd/bench gemm --size 512,512,512 --size 4096,4096,4096 --clock graph --turns 3
//	go run ./ops/cmd/bench reduce --size 25600000 --counters units
//
// It measures as the notebooks do, with the same package. With --turns our
// variants and the peers are timed alternately, a line for each turn, so that the
// GPU's temperature and power affect both equally. An interrupt ends it; every printed
// line is whole.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops"
	"warpbook/ops/peers"
)

const usage = `usage: go run ./ops/cmd/bench OPERATOR --size N[,N...]... [flags]

Verifies and times each variant of an operator and its peers (CUB, cuBLAS and torch, on a
GPU where they are installed), size by size, and prints a line of JSON for each figure.
A wrong result, and a time that was refused, is a line without times, and exit status 1 unless
its rung is expected to be wrong.

operators: %s

`

func main() {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM)
	err := run(os.Args[1:], os.Stdout, os.Stderr, stopped)
	if err == flag.ErrHelp {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	operator *ops.Operator
	sizes    []ops.Size
	variants []string // empty for all
	method   ops.Method
	device   string
	data     string
	seed     uint64
	repeats  int
	turns    int
	peers    []string // empty for all
	alone    bool     // without peers
	skip     bool     // named variants that do not take the device or the size
	counters []string // of ncu, in place of times
	done     done     // of a run that ended midway
}

func parse(args []string, log io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a wrong flag is one line, without the usage
	flags.Usage = func() {}
	flags.Func("size", "a size of the operator's, such as `25600000` or 4096,4096,4096; may be repeated", o.addSize)
	variants := flags.String("variants", "", "variants, with commas; all if not given")
	flags.BoolVar(&o.skip, "skip", false, "leaves out named variants, too, that do not take the device or a size")
	clock := flags.String("clock", "events", `events, "back to back" or graph`)
	cache := flags.String("l2", "warm", "warm, flushed, or (back to back and graph) rotated")
	flags.StringVar(&o.device, "device", "", "as "+device.Variable+" names it; the best one there is if not given")
	flags.Uint64Var(&o.seed, "seed", 20261121, "of the random data")
	flags.IntVar(&o.repeats, "repeats", 0, "of each timing; 0 chooses up to 50")
	flags.IntVar(&o.turns, "turns", 1, "how often each size is timed, ours and theirs alternately")
	others := flags.String("peers", "all", "figures of peers, with commas; all or none")
	data := flags.String("data", "", "name of a data set of the operator's; its first if not given")
	counters := flags.String("counters", "", "counts each launch under ncu in place of times: `units` for the share of its peak that each unit reaches, or ncu's metrics, with commas")
	resume := flags.String("resume", "", "`file` with the lines of a run that ended midway: its figures are not measured again")
	sets := map[string]float64{}
	flags.Func("set", "a parameter of the operator's, such as `alpha=2`; may be repeated", func(text string) error {
		return addSetting(sets, text)
	})
	var operator string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		operator, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err == flag.ErrHelp {
		fmt.Fprintf(log, usage, strings.Join(operators(), ", "))
		flags.SetOutput(log)
		flags.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w: go run ./ops/cmd/bench --help", err)
	}
	if operator == "" || flags.NArg() > 0 || len(o.sizes) == 0 || o.turns < 1 {
		return o, fmt.Errorf("expected an operator, its --size and at least one of --turns: go run ./ops/cmd/bench --help")
	}
	if *variants != "" {
		o.variants = strings.Split(*variants, ",")
	}
	if err := o.find(operator, sets, *data); err != nil {
		return o, err
	}
	if o.repeats < 0 {
		return o, fmt.Errorf("--repeats %d: expected at least 1, or 0 for up to 50", o.repeats)
	}
	if o.done, err = readDone(*resume); err != nil {
		return o, err
	}
	if *counters != "" {
		for metric := range strings.SplitSeq(*counters, ",") {
			if metric == "units" {
				o.counters = append(o.counters, units...)
				continue
			}
			o.counters = append(o.counters, metric)
		}
	}
	switch *others {
	case "all":
	case "none":
		o.alone = true
	default:
		o.peers = strings.Split(*others, ",")
	}
	o.method, err = ops.ParseMethod(*clock, *cache)
	return o, err
}

// addSize adds a size of --size.
func (o *options) addSize(text string) error {
	var size ops.Size
	for _, d := range strings.Split(text, ",") {
		n, err := strconv.Atoi(d)
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%q is too large", d)
		}
		if err != nil {
			return fmt.Errorf("%q is no number in digits, such as 1000000", d)
		}
		size = append(size, n)
	}
	o.sizes = append(o.sizes, size)
	return nil
}

// addSetting adds a NAME=NUMBER of --set.
func addSetting(sets map[string]float64, text string) error {
	name, number, found := strings.Cut(text, "=")
	value, err := strconv.ParseFloat(number, 64)
	if !found || err != nil {
		return fmt.Errorf("%q is no NAME=NUMBER", text)
	}
	sets[name] = value
	return nil
}

// find finds the operator with its settings, and checks that it has the data set, the
// variants and the sizes: before anything is measured, and before data is made.
func (o *options) find(operator string, sets map[string]float64, data string) (err error) {
	if o.operator, err = ops.Find(operator); err != nil {
		return err
	}
	if o.operator, err = o.operator.SetAll(sets); err != nil {
		return err
	}
	if o.data = data; data != "" {
		_, err = o.operator.DataSet(data)
	}
	if err == nil {
		_, err = o.operator.Choose(o.variants)
	}
	for _, size := range o.sizes {
		err = cmp.Or(err, o.operator.CheckSize(size))
	}
	return err
}

func operators() (names []string) {
	for _, o := range ops.Operators() {
		names = append(names, o.Name)
	}
	return names
}

// run prints the figures; stopped ends it between two of them.
func run(args []string, out, log io.Writer, stopped <-chan os.Signal) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	d, err := device.Open(o.device)
	if err != nil {
		return err
	}
	defer d.Close()
	var stop atomic.Bool
	ended := make(chan struct{})
	defer close(ended)
	go interrupt(stopped, ended, &stop)
	if len(o.counters) > 0 {
		return printCounters(d, o, out, log)
	}
	right := true
	others := peers.None()
	defer func() { others.Close() }()
	sizes := o.peerSizes()
	for _, size := range o.sizes {
		bench, err := ops.NewBench(d, o.operator, o.seed, size...)
		if err != nil {
			return err
		}
		bench.Method, bench.Repeats = o.method, o.repeats
		bench.KeepWatch()
		if o.data != "" {
			err = bench.UseData(o.data)
		}
		if err == nil && len(sizes) > 0 && !o.alone {
			started, failed := bench.PeersInTurns(sizes, o.turns, o.peers...)
			if err = failed; err == nil {
				others, sizes = started, nil
			}
		}
		for turn := 0; turn < o.turns && err == nil; turn++ {
			var fine bool
			fine, err = printVariants(bench, o, size, turn, out, log, &stop)
			if right = right && fine; err == nil && !stop.Load() && !o.done.peers(size, o.turns) {
				fmt.Fprintln(log, "bench: peers")
				err = printPeers(others, o, out)
			}
		}
		if err := errors.Join(err, bench.Close()); err != nil {
			return err
		}
	}
	for _, note := range others.Notes {
		fmt.Fprintln(log, "bench: not run:", note)
	}
	if !right {
		return fmt.Errorf("a result is wrong or was not timed: its line has no times")
	}
	return nil
}

// printVariants prints the figures of a size in a turn, but those that a run that is
// resumed has printed.
func printVariants(bench *ops.Bench, o options, size ops.Size, turn int, out, log io.Writer, stop *atomic.Bool) (right bool, err error) {
	right = true
	for _, variant := range o.names() {
		if stop.Load() {
			return false, fmt.Errorf("interrupted before %s", variant)
		}
		if o.done.count(variant, size) > turn {
			continue
		}
		fmt.Fprintln(log, "bench:", variant)
		latencies, err := timed(bench, variant, log)
		if errors.Is(err, ops.ErrDisturbed) {
			right = false
			line := peers.Figure{Kind: "figure", Operator: o.operator.Name, Name: variant, Size: size, Method: o.method.Clock.String(),
				L2: o.method.Cache.String(), Verdict: "NOT TIMED", Note: err.Error()}
			if err := o.print(out, line); err != nil {
				return false, err
			}
			continue
		}
		if (o.skip || len(o.variants) == 0) && errors.Is(err, gpu.ErrUnsupported) {
			fmt.Fprintln(log, "bench: not run:", err)
			continue
		}
		if err != nil {
			return false, err
		}
		for _, f := range latencies.Figures() {
			right = right && (f.Verdict == ops.Pass || f.Verdict == ops.FailExpected)
			if err := o.print(out, f); err != nil {
				return false, err
			}
		}
	}
	return right, nil
}

// A GPU may still be busy with a program that has just ended: how often, and how long
// after, a time that was refused for it is tried again.
const tries = 3

var pause = time.Second // tests wait less

// names are the variants: those that were named, or all.
func (o options) names() []string {
	if len(o.variants) > 0 {
		return o.variants
	}
	var all []string
	for _, v := range o.operator.Variants {
		all = append(all, v.Name)
	}
	return all
}

// timed is Time of a variant, tried again where something else disturbs it.
func timed(bench *ops.Bench, variant string, log io.Writer) (*ops.Latencies, error) {
	for try := 1; ; try++ {
		latencies, err := bench.Time(variant)
		if !errors.Is(err, ops.ErrDisturbed) || try == tries {
			return latencies, err
		}
		fmt.Fprintln(log, "bench: tried again:", err)
		time.Sleep(pause)
	}
}

// interrupt ends the running work after the program receives a signal. It repeats
// this, because there is nothing to end between two launches.
func interrupt(stopped <-chan os.Signal, ended <-chan struct{}, stop *atomic.Bool) {
	select {
	case <-ended:
		return
	case <-stopped:
	}
	stop.Store(true)
	for {
		peers.Interrupt()
		device.InterruptAll()
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// printPeers prints the peers' figures of a turn.
func printPeers(others *peers.Session, o options, out io.Writer) error {
	figures, err := others.Turn()
	for _, f := range figures {
		if err := o.print(out, f); err != nil {
			return err
		}
	}
	return err
}

// settings names the parameters whose values are not the defaults, and the data set if it
// is not the usual one.
func (o options) settings() string {
	var all []string
	for _, p := range o.operator.Parameters {
		if p.Value != p.Default {
			all = append(all, fmt.Sprint(p.Name, " = ", p.Value))
		}
	}
	if usual, err := o.operator.DataSet(""); err == nil && o.data != "" && o.data != usual.Name {
		all = append(all, o.data)
	}
	return strings.Join(all, ", ")
}

// print writes a figure with one call, so that a line is whole.
func (o options) print(out io.Writer, f peers.Figure) error {
	f.Settings = o.settings()
	return printLine(out, f)
}

func printLine(out io.Writer, record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}
