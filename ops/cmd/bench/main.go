//go:build !windows

// Command bench verifies and times the rungs of an operator and prints a
// figure a line as JSON: of programs of --peer, of ours, then of the peers that are there.
//
//	go run ./ops/cmd/bench reduce --size 25600000 --l2 flushed > figures.jsonl
//	go run ./ops/cmd/bench gemm --size 512,512,512 --size 4096,4096,4096 --clock graph --turns 3
//	go run ./ops/cmd/bench reduce --size 25600000 --counters units
//	go run ./ops/cmd/bench reduce --size 1e6 --with mine.cu:mine --like RUNG --csv
//	go run ./ops/cmd/bench reduce --size 1e6 --peer 'python3 mine.py'
//
// It measures as the notebooks do, with the same package. With --turns our
// variants and the peers are timed alternately, a line for each repetition, so that the
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
	"math"
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
	with     []kernel // of the caller's, which are rungs
	likes    []string // rungs that they are launched like
	own      []string // command lines of the caller's, which are peers
	csv      bool     // in place of JSON
	alone    bool     // without peers
	warm     bool     // compiles the peers, and measures nothing
	skip     bool     // named rungs that do not take the device or the size
	counters []string // of ncu, in place of times
	export   string   // folder for ncu's reports
	done     done     // of a run that ended midway
	arch     string   // of with
}

func parse(args []string, log io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a wrong flag is one line, without the usage
	flags.Usage = func() {}
	flags.Func("size", "a size of the operator's, such as `25600000` or 4096,4096,4096; may be repeated", o.addSize)
	variants := flags.String("variants", "", "variants, with commas; all if not given")
	flags.BoolVar(&o.warm, "warm", false, "runs each peer once, so that its programs are compiled, and prints nothing")
	flags.BoolVar(&o.skip, "skip", false, "leaves out named variants, too, that do not take the device or a size")
	clock := flags.String("clock", "events", `events, "back to back" or graph`)
	cache := flags.String("l2", "warm", "warm, flushed, or (back to back and graph) rotated")
	flags.StringVar(&o.device, "device", "", "as "+device.Variable+" names it; the best one there is if not given")
	flags.Uint64Var(&o.seed, "seed", 20261121, "of the random data")
	flags.IntVar(&o.repeats, "repeats", 0, "of each timing; 0 chooses up to 50")
	flags.IntVar(&o.turns, "turns", 1, "how often each size is timed, ours and theirs alternately")
	others := flags.String("peers", "all", "figures of peers, with commas; all, every (those that were tried and lost, too) or none")
	data := flags.String("data", "", "name of a data set of the operator's; its first if not given")
	counters := flags.String("counters", "", "counts each launch under ncu in place of times: `units` for the share of its peak that each unit reaches, or ncu's metrics, with commas")
	flags.StringVar(&o.export, "export", "", "with --counters and one size, keeps all that ncu counts of each rung as `FOLDER`/RUNG.ncu-rep, for ncu --import and Nsight Compute")
	resume := flags.String("resume", "", "`file` with the lines of a run that ended midway: its figures are not measured again")
	flags.Func("with", "`FILE.cu:KERNEL` of yours, or FILE.ptx:ENTRY, as a rung: checked, timed and audited; may be repeated", o.addKernel)
	flags.Func("like", "the `rung` whose launch, arguments and error bound the kernel of --with has; one for all, or one for each", func(text string) error {
		o.likes = append(o.likes, text)
		return nil
	})
	flags.StringVar(&o.arch, "arch", "", "lowest `compute capability` that --with compiles for, such as sm_90a (sm_75)")
	flags.Func("peer", "a `command` of yours that computes the operator, such as 'python3 mine.py': ops/peers/README.md has the protocol; may be repeated", func(text string) error {
		o.own = append(o.own, text)
		return nil
	})
	flags.BoolVar(&o.csv, "csv", false, "prints a table as CSV in place of JSON lines")
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
	if err := o.checkKernels(); err != nil {
		return o, err
	}
	if o.csv && (*counters != "" || *resume != "") {
		return o, errors.New("--csv with --counters or --resume, expected one of them: both have JSON lines")
	}
	export := false // as a flag, if only as ""
	flags.Visit(func(f *flag.Flag) { export = export || f.Name == "export" })
	if export && (o.export == "" || *counters == "" || len(o.sizes) != 1) {
		return o, errors.New("--export FOLDER: expected the name of a folder, --counters, such as --counters units, and one --size")
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
	if o.method, err = ops.ParseMethod(*clock, *cache); err == nil && len(o.own) > 0 && (o.method.Clock != ops.Events || o.method.Cache == ops.Rotated) {
		err = fmt.Errorf("--peer with --clock %v --l2 %v: expected events, and L2 warm or flushed", o.method.Clock, o.method.Cache)
	}
	return o, err
}

// addSize adds a size of --size.
func (o *options) addSize(text string) error {
	var size ops.Size
	for _, d := range strings.Split(text, ",") {
		n, err := wholeNumber(d)
		if err != nil {
			return err
		}
		size = append(size, n)
	}
	o.sizes = append(o.sizes, size)
	return nil
}

// wholeNumber reads a number as Go writes it in a --set of a notebook: 1000000, 1_000_000
// or 1e6.
func wholeNumber(text string) (int, error) {
	digits := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.Atoi(digits); err == nil || errors.Is(err, strconv.ErrRange) {
		return n, tooLarge(text, err)
	}
	f, err := strconv.ParseFloat(digits, 64)
	switch {
	case math.Abs(f) >= 1<<53: // also what is out of range
		return 0, tooLarge(text, strconv.ErrRange)
	case err != nil || f != math.Trunc(f):
		return 0, fmt.Errorf("%q is no whole number, such as 1000000 or 1e6", text)
	}
	return int(f), nil
}

func tooLarge(text string, err error) error {
	if err != nil {
		return fmt.Errorf("%q is too large", text)
	}
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
	if err == nil && len(o.with) == 0 { // else after they are compiled
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
	if err := o.withKernels(d, log, stopped); err != nil {
		return err
	}
	var stop atomic.Bool
	ended := make(chan struct{})
	defer close(ended)
	go interrupt(stopped, ended, &stop)
	switch {
	case len(o.counters) > 0:
		return printCounters(d, o, out, log)
	case o.warm:
		return warm(d, o, log)
	}
	if o.csv {
		if err := writeRow(out, o.columns()); err != nil {
			return err
		}
	}
	right := true
	others := peers.None()
	defer func() { others.Close() }()
	programs, err := o.startOwn(d)
	defer func() {
		for _, own := range programs {
			if own != nil {
				own.Close()
			}
		}
	}()
	if err != nil {
		return err
	}
	sizes := o.peerSizes()
	for _, size := range o.sizes {
		bench, err := ops.NewBench(d, o.operator, o.seed, size...)
		if err != nil {
			return err
		}
		bench.Method, bench.Repeats = o.method, o.repeats
		bench.Audits = len(o.with) > 0
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
			// Programs of --peer first: one that does not start is named at once.
			fine, failed := printOwn(bench, programs, o, out, log)
			if right, err = right && fine, failed; err == nil && !stop.Load() {
				fine, err = printVariants(bench, o, size, turn, out, log, &stop)
				right = right && fine
			}
			if err == nil && !stop.Load() && !o.done.peers(size, o.turns) {
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

// warm runs the peers once at each size, without a figure.
func warm(d gpu.Device, o options, log io.Writer) error {
	bench, err := ops.NewBench(d, o.operator, o.seed, o.sizes[0]...)
	if err != nil {
		return err
	}
	defer bench.Close()
	bench.Method, bench.Repeats = o.method, 1
	others, err := bench.PeersInTurns(o.sizes, 1, o.peers...)
	if err != nil {
		return err
	}
	defer others.Close()
	for range o.sizes {
		if _, err := others.Turn(); err != nil {
			return err
		}
	}
	for _, note := range others.Notes {
		fmt.Fprintln(log, "bench: not run:", note)
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
			if f, err = o.judged(bench, f); err != nil {
				return false, err
			}
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

// names are the rungs: those that were named, or all.
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

// timed is Time of a rung, tried again where something else disturbs it.
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
	if o.csv {
		return printRow(out, f)
	}
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
