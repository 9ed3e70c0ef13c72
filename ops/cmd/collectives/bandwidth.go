package main

import (
	"context"
	"embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/gpu/cuda"
	"warpbook/ops/peers"
)

//go:embed peers/*.cu
var sources embed.FS

// librariesVariable tells the peer where NCCL is.
const librariesVariable = "NCCL_PEER_LIBRARIES"

// warmup is how many collectives of a turn are not timed: those of the peer, too.
const warmup = 5

// bandwidths verifies each collective at each size, then times ours and the peer's alternately.
func bandwidths(s *session) error {
	if least := 4 * len(s.group); slices.Min(s.bytes) < least {
		return fmt.Errorf("--bytes %d: expected at least %d, an element for each of %d ranks", slices.Min(s.bytes), least, len(s.group))
	}
	others := peers.None("not asked for, or no GPU")
	if _, linked := s.devices[0].(*cuda.Device); linked && !s.noPeer {
		os.Setenv(librariesVariable, strings.Join(cuda.NCCLPaths(), ":"))
		set := peers.Set{Operator: "all_reduce", Programs: []string{"nccl.cu"}, Files: sources}
		var sizes [][]int
		for _, n := range s.bytes {
			sizes = append(sizes, []int{n})
		}
		started, err := peers.Start(context.Background(), set, sizes, s.turns, peers.Options{Repeats: s.repeats, Set: []string{fmt.Sprint("ranks=", len(s.devices))}})
		if err != nil {
			return err
		}
		others = started
	}
	defer func() {
		for _, note := range others.Notes {
			fmt.Fprintln(s.log, "collectives: peer not run:", note)
		}
		others.Close()
	}()
	wrong := false
	for _, bytes := range s.bytes {
		right, err := s.bandwidth(bytes, others)
		if err != nil {
			return err
		}
		wrong = wrong || !right
	}
	if wrong {
		return errWrong
	}
	return nil
}

// element is element i of a rank's input: small integers, whose sum is exact.
func element(i, rank int, seed uint64) float32 {
	return float32((uint64(i)*7 + uint64(rank)*3 + seed) % 8)
}

// kinds are the collectives that are timed.
var kinds = []collective.Kind{collective.AllReduce, collective.ReduceScatter, collective.Broadcast}

func (s *session) bandwidth(bytes int, others *peers.Session) (right bool, err error) {
	ranks := len(s.group)
	n := bytes / 4 / ranks * ranks
	if n == 0 {
		return false, fmt.Errorf("--bytes %d: expected at least %d: an element for each of %d ranks", bytes, 4*ranks, ranks)
	}
	all := float64(ranks) * float64(bytes)
	if err := s.room(all, 2*all, "--bytes"); err != nil {
		return false, err
	}
	ins, outs, parts := make([]gpu.Buffer, ranks), make([]gpu.Buffer, ranks), make([]gpu.Buffer, ranks)
	defer func() {
		for _, list := range [][]gpu.Buffer{ins, outs} {
			for _, b := range list {
				if b != nil {
					b.Free() // an error here changes no figure
				}
			}
		}
	}()
	err = each(s.group, func(c collective.Communicator) (err error) {
		r := c.Rank()
		x := make([]float32, n)
		for i := range x {
			x[i] = element(i, r, s.seed)
		}
		if ins[r], err = c.Device().Alloc(gpu.Float32, n); err != nil {
			return err
		}
		if outs[r], err = c.Device().Alloc(gpu.Float32, n); err != nil {
			return err
		}
		if parts[r], err = outs[r].View(0, n/ranks); err != nil {
			return err
		}
		return ins[r].Upload(x)
	})
	if err != nil {
		return false, err
	}
	call := func(kind collective.Kind, r int) collective.Call {
		switch kind {
		case collective.ReduceScatter:
			return collective.Call{Kind: kind, In: ins[r], Out: parts[r]}
		case collective.Broadcast: // of what the all-reduce left, so that it changes nothing
			return collective.Call{Kind: kind, In: outs[r], Out: outs[r], Root: ranks - 1}
		}
		return collective.Call{Kind: kind, In: ins[r], Out: outs[r]}
	}
	right = true
	verdicts := map[collective.Kind]bool{}
	for _, kind := range []collective.Kind{collective.ReduceScatter, collective.AllReduce, collective.Broadcast} {
		ok, err := s.verify(kind, n, outs, func(r int) collective.Call { return call(kind, r) })
		if err != nil {
			return false, err
		}
		verdicts[kind], right = ok, right && ok
	}
	ours, theirs := map[collective.Kind][]float64{}, map[string][]float64{}
	for turn := range s.turns {
		for _, kind := range kinds {
			ns, err := s.time(func(r int) collective.Call { return call(kind, r) })
			if err != nil {
				return false, err
			}
			ours[kind] = append(ours[kind], ns)
			s.print(line{Part: "collectives", Name: kind.String(), Devices: ranks, Size: []int{4 * n}, Turn: turn, Verdict: verdict(verdicts[kind]), NS: ns,
				BusGBps: float64(4*n) * kind.Factor(ranks) / ns, Method: s.clock(), Transport: s.group[0].Transport(), Note: fmt.Sprintf("%d in a row, behind %d that are not timed, as the peer has it; slowest rank", s.repeats, warmup)})
		}
		for _, row := range slices.Compact([]int{1, s.repeats}) {
			ns, err := s.awaited(row, func(r int) collective.Call { return call(collective.AllReduce, r) })
			if err != nil {
				return false, err
			}
			l := line{Part: "collectives", Name: "all-reduce, awaited", Devices: ranks, Size: []int{4 * n}, Turn: turn, Verdict: verdict(verdicts[collective.AllReduce]), NS: ns,
				BusGBps: float64(4*n) * collective.AllReduceFactor(ranks) / ns, Method: "the host's clock", Transport: s.group[0].Transport(), Note: "Go awaits each before the next one; the peer has no such figure"}
			if row > 1 {
				l.Name, l.Note = "all-reduce, in a row", fmt.Sprintf("Go awaits the last of %d", row)
			}
			s.print(l)
		}
		figures, err := others.Turn()
		if err != nil {
			return false, err
		}
		for _, f := range figures {
			theirs[f.Name] = append(theirs[f.Name], f.MedianNS)
			s.print(line{Part: "collectives", Name: f.Name, Devices: ranks, Size: f.Size, Turn: turn, Verdict: f.Verdict, NS: f.MedianNS, BusGBps: f.GBps, Method: "events", Transport: f.Library, Note: f.Note})
			right = right && f.Verdict == "PASS"
		}
	}
	for name, ns := range theirs {
		s.print(line{Part: "collectives", Name: "all-reduce of ours over " + name, Devices: ranks, Size: []int{4 * n}, Ratio: median(ns) / median(ours[collective.AllReduce]),
			Transport: s.group[0].Transport(), Note: "bus bandwidths, medians of the repetitions; the aim is 0.97"})
	}
	return right, nil
}

// clock is what times are taken by.
func (s *session) clock() string {
	if strings.HasPrefix(s.group[0].Transport(), "NCCL") {
		return "events"
	}
	return "the host's clock"
}

// verify runs a collective once, on outputs that are poisoned, and compares every element of
// all ranks.
func (s *session) verify(kind collective.Kind, n int, outs []gpu.Buffer, call func(rank int) collective.Call) (bool, error) {
	ranks := len(s.group)
	sum := func(i int) (sum float32) {
		for r := range ranks {
			sum += element(i, r, s.seed)
		}
		return sum
	}
	var mu sync.Mutex
	right := true
	err := each(s.group, func(c collective.Communicator) error {
		r := c.Rank()
		host := make([]float32, n)
		for i := range host {
			host[i] = float32(math.NaN())
			if kind == collective.Broadcast && r == ranks-1 {
				host[i] = sum(i)
			}
		}
		if err := outs[r].Upload(host); err != nil {
			return err
		}
		if _, err := c.Time(gpu.Timing{Repeats: 1}, call(r)); err != nil {
			return err
		}
		if err := outs[r].Download(host); err != nil {
			return err
		}
		length, from := n, 0
		if kind == collective.ReduceScatter {
			length, from = n/ranks, r*(n/ranks)
		}
		for i := range length {
			if host[i] != sum(from+i) {
				mu.Lock()
				fmt.Fprintf(s.log, "collectives: %v: rank %d: element %d is %v, expected %v\n", kind, r, i, host[i], sum(from+i))
				right = false
				mu.Unlock()
				break
			}
		}
		return nil
	})
	return right, err
}

// time is the time of one collective of a turn, in ns, on the slowest rank.
func (s *session) time(call func(rank int) collective.Call) (ns float64, err error) {
	times := make([]float64, len(s.group))
	err = each(s.group, func(c collective.Communicator) error {
		took, err := c.Time(gpu.Timing{Warmup: warmup, Repeats: s.repeats}, call(c.Rank()))
		times[c.Rank()] = float64(took)
		return err
	})
	for _, t := range times {
		ns = max(ns, t)
	}
	return ns, err
}

// awaited is the time of one collective, in ns, if Go awaits the last one of each row.
func (s *session) awaited(row int, call func(rank int) collective.Call) (ns float64, err error) {
	times, err := clocked(s.group, 1, func(c collective.Communicator) error {
		calls := slices.Repeat([]collective.Call{call(c.Rank())}, row)
		for range s.repeats / row {
			if err := c.Run(calls...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return times[0] / float64(s.repeats), nil
}
