// Command collectives verifies and times what several devices do together, and prints a
// figure a line as JSON:
//
//	go run ./ops/cmd/collectives                       all parts, on the GPUs of this machine
//	go run ./ops/cmd/collectives --parts collectives --bytes 1073741824 --turns 5
//
// The parts: collectives (bus bandwidth as nccl-tests has it, beside a C++ program that
// calls ncclAllReduce, alternately), sum (the ladder's reduce on a part each, then an
// all-reduce of one element), gemm (a part of the columns each) and triangles (an equal
// share of the work each). The last three are timed with one device and with all, by the
// host's clock, and the parts of sum and triangles without the all-reduce. Without two GPUs
// the devices are emulators. A part that fails is a line with its error, and the next one
// runs all the same.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/gpu/cuda"
	"warpbook/gpu/device"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && err != flag.ErrHelp {
		fmt.Fprintln(os.Stderr, "collectives:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	parts    []string
	kind     string // of the devices: cuda or emu
	ranks    int    // 0 for all GPUs
	bytes    []int
	turns    int
	repeats  int
	n        int // elements of the sum
	size     int // of the product
	scale    int // of the graph
	seed     uint64
	noPeer   bool
	deadline time.Duration
}

// parts are the parts by name.
var parts = []struct {
	name string
	run  func(*session) error
}{{"collectives", bandwidths}, {"sum", sums}, {"gemm", products}, {"triangles", counts}}

func parse(args []string, log io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("collectives", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a wrong flag is one line, without the usage
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	list := flags.String("parts", strings.Join(names, ","), "parts, with commas")
	flags.StringVar(&o.kind, "device", "", "cuda or emu; the GPUs, if there are two, if not given")
	flags.IntVar(&o.ranks, "ranks", 0, "devices; 0 for all GPUs, or two emulators")
	bytes := flags.String("bytes", "1073741824", "bytes of a rank in the part collectives, with commas")
	flags.IntVar(&o.turns, "turns", 5, "of ours and of the peer, alternately")
	flags.IntVar(&o.repeats, "repeats", 20, "collectives of a turn")
	flags.IntVar(&o.n, "n", 1<<28, "elements of the sum")
	flags.IntVar(&o.size, "size", 8192, "of the square matrices")
	flags.IntVar(&o.scale, "scale", 20, "of the graph: it has 2^scale vertices and 16 times as many edges")
	flags.Uint64Var(&o.seed, "seed", 20261125, "of the random data")
	flags.BoolVar(&o.noPeer, "no-peer", false, "leaves out the C++ program")
	flags.DurationVar(&o.deadline, "deadline", time.Minute, "of a collective")
	if err := flags.Parse(args); err == flag.ErrHelp {
		flags.SetOutput(log)
		flags.Usage()
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w: go run ./ops/cmd/collectives --help", err)
	}
	for text := range strings.SplitSeq(*bytes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 8 {
			return o, fmt.Errorf("--bytes %s: expected whole numbers from 8 to %d", text, math.MaxInt)
		}
		o.bytes = append(o.bytes, n)
	}
	o.parts = strings.Split(*list, ",")
	for _, p := range o.parts {
		if !slices.Contains(names, p) {
			return o, fmt.Errorf("--parts %s: expected some of %s", p, strings.Join(names, ", "))
		}
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q: expected flags only: go run ./ops/cmd/collectives --help", flags.Arg(0))
	}
	for _, x := range []struct {
		name               string
		value, least, most int
	}{
		{"ranks", o.ranks, 0, 1 << 10}, {"turns", o.turns, 1, math.MaxInt32}, {"repeats", o.repeats, 1, math.MaxInt32},
		{"n", o.n, 1, math.MaxInt}, {"size", o.size, 1, math.MaxInt32}, {"scale", o.scale, 1, mostScale},
	} {
		if x.value < x.least || x.value > x.most {
			return o, fmt.Errorf("--%s %d: expected %d to %d", x.name, x.value, x.least, x.most)
		}
	}
	if o.deadline <= 0 {
		return o, fmt.Errorf("--deadline %v: expected a time, such as 1m", o.deadline)
	}
	return o, nil
}

// mostScale is of a graph whose edges a row pointer of 32 bits numbers.
const mostScale = 26

// room refuses a part that needs more bytes of the host's memory than there are: a program
// cannot recover from that. Devices that are emulators hold theirs there, too.
func (s *session) room(host, device float64, flag string) error {
	if s.devices[0].Info().Emulated {
		host += device
	}
	if err := gpu.CheckHost(host); err != nil {
		return fmt.Errorf("%w: take a smaller %s", err, flag)
	}
	return nil
}

// session is the devices and what a part prints to.
type session struct {
	options
	devices []gpu.Device
	group   []collective.Communicator
	out     *json.Encoder
	log     io.Writer
	device  string // of all
}

// line is a figure.
type line struct {
	Kind      string  `json:"kind"` // "collective"
	Part      string  `json:"part"`
	Name      string  `json:"name"`
	Devices   int     `json:"devices"`
	Size      []int   `json:"size"`
	Turn      int     `json:"turn"`
	Verdict   string  `json:"verdict"` // "PASS", "FAIL" or "" where nothing was computed
	NS        float64 `json:"ns,omitempty"`
	BusGBps   float64 `json:"bus_gbps,omitempty"` // nccl-tests' formula
	GFlops    float64 `json:"gflops,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // of medians, as the name has it
	Method    string  `json:"method,omitempty"`
	Transport string  `json:"transport,omitempty"`
	Device    string  `json:"device,omitempty"`
	Note      string  `json:"note,omitempty"`
}

func (s *session) print(l line) {
	l.Kind, l.Device = "collective", s.device
	s.out.Encode(l) // of numbers and strings; a closed output ends the command
}

// verdict is a check's.
func verdict(right bool) string {
	if right {
		return "PASS"
	}
	return "FAIL"
}

var errWrong = errors.New("a result is wrong")

func run(args []string, out, log io.Writer) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	s := &session{options: o, out: json.NewEncoder(out), log: log}
	if err := s.open(); err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(log, "collectives: %d devices, %s, by %s\n", len(s.devices), s.device, s.group[0].Transport())
	var failed []error
	for _, p := range parts {
		if !slices.Contains(o.parts, p.name) {
			continue
		}
		start := time.Now()
		err := guarded(p.run, s)
		if took := time.Since(start).Round(time.Millisecond); err == nil {
			fmt.Fprintf(log, "collectives: %s: done after %v\n", p.name, took)
		} else {
			fmt.Fprintf(log, "collectives: %s: failed after %v: %v\n", p.name, took, err)
			s.print(line{Part: p.name, Name: "error", Devices: len(s.devices), Note: err.Error()})
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
			s.close()
			if err := s.open(); err != nil {
				return err
			}
		}
	}
	return errors.Join(failed...)
}

// guarded turns a panic of a part into its error.
func guarded(part func(*session) error, s *session) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return part(s)
}

// open opens the devices and joins them.
func (s *session) open() error {
	kind, ranks := s.kind, s.ranks
	if kind == "" {
		kind = "emu"
		if cuda.Count() >= 2 && cuda.WorkerBuilt() {
			kind = "cuda"
		}
	}
	if ranks == 0 {
		ranks = 2
		if kind == "cuda" {
			ranks = cuda.Count()
		}
	}
	if ranks == 0 {
		return errors.New("there is no GPU: --device emu runs on emulators")
	}
	s.devices = nil
	for i := range ranks {
		name := kind
		if kind == "cuda" {
			name = fmt.Sprintf("cuda:%d", i)
		}
		d, err := device.Open(name)
		if err != nil {
			s.close()
			return err
		}
		s.devices = append(s.devices, d)
	}
	s.device = fmt.Sprint(s.devices[0].Info()) // an emulator says so
	group, err := collective.New(s.deadline, s.devices...)
	if err != nil {
		s.close()
		return err
	}
	s.group = group
	return nil
}

func (s *session) close() {
	for _, c := range s.group {
		c.Close() // the worker ends next
	}
	for _, d := range s.devices {
		d.Close()
	}
	s.group, s.devices = nil, nil
}

// each calls f for every rank of a group in a goroutine of its own. A rank with an error
// ends the group, so that no other waits for it.
func each(group []collective.Communicator, f func(c collective.Communicator) error) error {
	errs := make([]error, len(group))
	var wg sync.WaitGroup
	for i, c := range group {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("panic: %v", r)
				}
				if errs[i] != nil {
					c.Abort(errs[i])
				}
			}()
			errs[i] = f(c)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// clocked is the time of each repeat of f on all ranks, by the host's clock, after one that
// is not timed.
func clocked(group []collective.Communicator, repeats int, f func(c collective.Communicator) error) (times []float64, err error) {
	for i := range repeats + 1 {
		start := time.Now()
		if err := each(group, f); err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, float64(time.Since(start)))
		}
	}
	return times, nil
}

// clockedAlone is the median time of f on each rank, by the host's clock, after one that is
// not timed. All ranks begin at a time.
func clockedAlone(group []collective.Communicator, repeats int, f func(c collective.Communicator) error) (medians []float64, err error) {
	times := make([][]float64, len(group))
	for i := range repeats + 1 {
		err := each(group, func(c collective.Communicator) error {
			start := time.Now()
			err := f(c)
			if i > 0 {
				times[c.Rank()] = append(times[c.Rank()], float64(time.Since(start)))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, t := range times {
		medians = append(medians, median(t))
	}
	return medians, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// single is a group of the first device alone.
func (s *session) single() ([]collective.Communicator, error) {
	return collective.New(s.deadline, s.devices[0])
}
