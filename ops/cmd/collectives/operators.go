package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/ops"
	"warpbook/ops/gemm"
	"warpbook/ops/reduce"
	"warpbook/ops/triangles"
)

// repeats is how often an operator is timed.
const repeats = 9

// task is an operator on a group whose ranks are prepared.
type task struct {
	run   func(c collective.Communicator) error // of a rank
	alone func(c collective.Communicator) error // its part of run on the device; nil if that is all
	right func() (bool, error)                  // whether the results of run are right
}

// job makes the task of a group.
type job func(group []collective.Communicator) (task, error)

// compare runs a job on one device and on all, verifies both and prints their times.
func (s *session) compare(l line, flops float64, j job) error {
	one, err := s.single()
	if err != nil {
		return err
	}
	l.Name = l.Part
	single, _, err := s.measure(l, one, flops, j)
	if err == nil {
		_, err = s.against(single, l, flops, j)
	}
	return err
}

// against runs a job on all devices, verifies it and prints its time and the ratio of that
// of one device to it. It returns the times of the ranks' parts without the all-reduce.
func (s *session) against(single float64, l line, flops float64, j job) (alone []float64, err error) {
	all, alone, err := s.measure(l, s.group, flops, j)
	if err != nil {
		return nil, err
	}
	l.Devices, l.Name = len(s.group), fmt.Sprintf("one device over %d%s", len(s.group), strings.TrimPrefix(l.Name, l.Part))
	l.Ratio = single / all
	s.print(l)
	return alone, nil
}

// measure runs a job on a group and verifies it. It prints the median time and those of the
// ranks' parts, and returns them. A wrong result is an error.
func (s *session) measure(l line, group []collective.Communicator, flops float64, j job) (ns float64, alone []float64, err error) {
	t, err := j(group)
	if err != nil {
		return 0, nil, err
	}
	if t.alone != nil && len(group) > 1 {
		if alone, err = clockedAlone(group, repeats, t.alone); err != nil {
			return 0, nil, err
		}
	}
	times, err := clocked(group, repeats, t.run)
	if err != nil {
		return 0, nil, err
	}
	right, err := t.right()
	if err != nil {
		return 0, nil, err
	}
	l.Devices, l.Verdict, l.Method, l.Transport = len(group), verdict(right), "the host's clock", group[0].Transport()
	for rank, ns := range alone {
		of := l
		of.Name, of.NS, of.Note = fmt.Sprintf("%s, part of rank %d", l.Name, rank), ns, "without the all-reduce, all ranks at a time"
		s.print(of)
	}
	l.NS = median(times)
	if flops > 0 {
		l.GFlops = flops / l.NS
	}
	s.print(l)
	if !right {
		err = errWrong
	}
	return l.NS, alone, err
}

// upload is a new buffer with these elements.
func upload(d gpu.Device, typ gpu.Type, elements any, n int) (gpu.Buffer, error) {
	b, err := d.Alloc(typ, n)
	if err != nil {
		return nil, err
	}
	return b, b.Upload(elements)
}

// sums adds a vector of which each device has a part. One of 128 elements is not 0, so that
// the float32 sum is exact in any order.
func sums(s *session) error {
	if err := s.room(4*float64(s.n), 4*float64(s.n), "--n"); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(s.seed, 1))
	x := make([]float32, s.n)
	var want float64
	for range s.n/128 + 1 {
		x[random.IntN(s.n)] = float32(random.IntN(8))
	}
	for _, v := range x {
		want += float64(v)
	}
	if want >= 1<<24 {
		return fmt.Errorf("the sum %v is not exact in float32: choose a smaller --n", want)
	}
	return s.compare(line{Part: "sum", Size: []int{s.n}, Note: "the ladder's best reduce on a part each, then an all-reduce of one element"}, 0, func(group []collective.Communicator) (t task, err error) {
		ins, outs, handles := make([]gpu.Buffer, len(group)), make([]gpu.Buffer, len(group)), make([]*ops.Handle, len(group))
		err = each(group, func(c collective.Communicator) (err error) {
			i, n := c.Rank(), len(group)
			part := x[i*s.n/n : (i+1)*s.n/n]
			if ins[i], err = upload(c.Device(), gpu.Float32, part, len(part)); err != nil {
				return err
			}
			handles[i] = ops.NewHandle(c.Device())
			handles[i].Async = true // the all-reduce waits
			outs[i], err = upload(c.Device(), gpu.Float32, []float32{float32(math.NaN())}, 1)
			return err
		})
		t.run = func(c collective.Communicator) error {
			i := c.Rank()
			if len(group) == 1 {
				return errors.Join(reduce.Sum(handles[i], ins[i], outs[i]), c.Device().Sync())
			}
			return reduce.SumAcross(c, handles[i], ins[i], outs[i])
		}
		t.alone = func(c collective.Communicator) error {
			return errors.Join(reduce.Sum(handles[c.Rank()], ins[c.Rank()], outs[c.Rank()]), c.Device().Sync())
		}
		t.right = func() (bool, error) {
			all := true
			for i := range group {
				got := make([]float32, 1)
				if err := errors.Join(outs[i].Download(got), handles[i].Close(), ins[i].Free(), outs[i].Free()); err != nil {
					return false, err
				}
				if float64(got[0]) != want {
					fmt.Fprintf(s.log, "collectives: sum: rank %d of %d has %v, expected %v\n", i, len(group), got[0], want)
					all = false
				}
			}
			return all, nil
		}
		return t, err
	})
}

// products multiplies square matrices of float32, of which each device has all of A and a
// part of the columns of B and C. Nothing is sent.
func products(s *session) error {
	n := s.size
	matrix, ranks := 4*float64(n)*float64(n), float64(len(s.group))
	if err := s.room(3*matrix, (2+ranks)*matrix, "--size"); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(s.seed, 2))
	a, b := make([]float32, n*n), make([]float32, n*n)
	for i := range a {
		a[i], b[i] = random.Float32(), random.Float32()
	}
	return s.compare(line{Part: "gemm", Size: []int{n, n, n}, Note: "float32, a part of the columns each; nothing is sent"}, 2*float64(n)*float64(n)*float64(n), func(group []collective.Communicator) (t task, err error) {
		type product struct {
			a, b, c     ops.Matrix
			first, wide int // columns
			handle      *ops.Handle
		}
		all := make([]product, len(group))
		err = each(group, func(c collective.Communicator) error {
			i, d := c.Rank(), c.Device()
			p := &all[i]
			p.first = i * n / len(group)
			p.wide = (i+1)*n/len(group) - p.first
			columns := make([]float32, 0, n*p.wide)
			for row := range n {
				columns = append(columns, b[row*n+p.first:row*n+p.first+p.wide]...)
			}
			inA, err1 := upload(d, gpu.Float32, a, n*n)
			inB, err2 := upload(d, gpu.Float32, columns, n*p.wide)
			out, err3 := d.Alloc(gpu.Float32, n*p.wide)
			if err := errors.Join(err1, err2, err3); err != nil {
				return err
			}
			p.a, p.b, p.c = ops.Matrix{Buffer: inA, Rows: n, Columns: n}, ops.Matrix{Buffer: inB, Rows: n, Columns: p.wide}, ops.Matrix{Buffer: out, Rows: n, Columns: p.wide}
			p.handle = ops.NewHandle(d)
			for i := range columns {
				columns[i] = float32(math.NaN())
			}
			return out.Upload(columns)
		})
		t.run = func(c collective.Communicator) error {
			p := &all[c.Rank()]
			return errors.Join(gemm.Multiply(p.handle, 1, p.a, p.b, 0, p.c), c.Device().Sync())
		}
		t.right = func() (bool, error) {
			right := true
			for i := range group {
				p := &all[i]
				c := make([]float32, n*p.wide)
				if err := errors.Join(p.c.Buffer.Download(c), p.handle.Close(), p.a.Buffer.Free(), p.b.Buffer.Free(), p.c.Buffer.Free()); err != nil {
					return false, err
				}
				for range 500 {
					row, column := random.IntN(n), random.IntN(p.wide)
					var want float64
					for k := range n {
						want += float64(a[row*n+k]) * float64(b[k*n+p.first+column])
					}
					bound := float64(n) * 0x1p-24 * want // all terms are positive
					if got := float64(c[row*p.wide+column]); !(math.Abs(got-want) <= bound) {
						fmt.Fprintf(s.log, "collectives: gemm: rank %d of %d: element (%d, %d) is %v, expected %v within %v\n", i, len(group), row, p.first+column, got, want, bound)
						right = false
					}
				}
			}
			return right, nil
		}
		return t, err
	})
}

// counted is the largest scale whose triangles the host counts, too, on few cores and on
// sixteen or more: others take minutes.
func counted() int {
	if runtime.GOMAXPROCS(0) >= 16 {
		return 22
	}
	return 20
}

// counts counts the triangles of an RMAT graph, of which each device has a part with an
// equal share of the work of the best rung, and the rows of other parts that it looks up.
func counts(s *session) error {
	n := 1 << s.scale
	if err := s.room(16*(8+4+4)*float64(n), 0, "--scale"); err != nil { // pairs, and neighbours twice
		return err
	}
	began := time.Now()
	graph, err := triangles.FromEdges(n, triangles.RMAT(n, 16*n, s.seed))
	if err != nil {
		return err
	}
	fmt.Fprintf(s.log, "collectives: triangles: the host made %v in %v\n", graph, time.Since(began).Round(time.Millisecond))
	l := line{Part: "triangles", Name: "triangles", Size: []int{graph.Vertices(), graph.Edges()}, Note: "the best rung, an equal share of its work each, then an all-reduce of 8 bytes; the count is "}
	var want uint64
	if s.scale <= counted() {
		began = time.Now()
		want = graph.Count()
		fmt.Fprintf(s.log, "collectives: triangles: the host counted them in %v\n", time.Since(began).Round(time.Millisecond))
		l.Note += "the host's"
	} else {
		l.Note += "that of one device, not the host's"
	}
	work := graph.Dense()
	bounds := graph.Cut(len(s.group), work)
	s.print(line{Part: l.Part, Name: fmt.Sprintf("one device over %d, expected", len(s.group)), Devices: len(s.group), Size: l.Size,
		Ratio: gain(graph, bounds), Note: "work of the whole graph over that of the busiest part, by the weights of Graph.Dense"})
	one, err := s.single()
	if err != nil {
		return err
	}
	single, _, err := s.measure(l, one, 0, s.counting(graph, []int{0, graph.Vertices()}, &want))
	if err != nil {
		return err
	}
	alone, err := s.against(single, l, 0, s.counting(graph, bounds, &want))
	if err != nil {
		return err
	}
	// Once more, with the work of each part in the time that it took.
	l.Name += ", cut again"
	l.Note = "the cut is by equal shares of the work, times what a unit of it took on the rank that had it before"
	_, err = s.against(single, l, 0, s.counting(graph, graph.Cut(len(s.group), timed(work, bounds, alone)), &want))
	return err
}

// timed is work in nanoseconds: each part took so long.
func timed(work func(u int) uint64, bounds []int, ns []float64) func(u int) uint64 {
	const unit = 1000 // of a nanosecond: the work of a vertex may be less than one
	var rates []float64
	for i := range ns {
		var sum uint64
		for u := bounds[i]; u < bounds[i+1]; u++ {
			sum += work(u)
		}
		rates = append(rates, unit*ns[i]/float64(max(sum, 1)))
	}
	return func(u int) uint64 {
		part := 0
		for u >= bounds[part+1] {
			part++
		}
		return uint64(rates[part] * float64(work(u)))
	}
}

// counting counts the triangles in parts of a graph. If want is 0, it becomes the count of
// the first rank.
func (s *session) counting(graph *triangles.Graph, bounds []int, want *uint64) job {
	return func(group []collective.Communicator) (t task, err error) {
		type part struct {
			operator *ops.Operator
			size     ops.Size
			memory   map[string]gpu.Buffer
			handle   *ops.Handle
		}
		all := make([]part, len(group))
		err = each(group, func(c collective.Communicator) (err error) {
			i, d := c.Rank(), c.Device()
			g := graph.Part(bounds[i], bounds[i+1])
			p := &all[i]
			if p.operator, err = triangles.Of(g); err != nil {
				return err
			}
			rows, err1 := upload(d, gpu.Uint32, g.Rows, len(g.Rows))
			columns, err2 := upload(d, gpu.Uint32, g.Columns, len(g.Columns))
			count, err3 := upload(d, gpu.Uint64, []uint64{1 << 60}, 1)
			p.size, p.memory = ops.Size{g.Vertices(), g.Edges()}, map[string]gpu.Buffer{"rows": rows, "columns": columns, "count": count}
			p.handle = ops.NewHandle(d)
			p.handle.Async = true // the all-reduce waits
			return errors.Join(err1, err2, err3)
		})
		launch := func(c collective.Communicator) error {
			p := &all[c.Rank()]
			return p.handle.Launch(p.operator, p.size, p.memory) // Run would check the graph each time
		}
		t.alone = func(c collective.Communicator) error { return errors.Join(launch(c), c.Device().Sync()) }
		t.run = func(c collective.Communicator) error {
			if len(group) == 1 {
				return t.alone(c)
			}
			if err := launch(c); err != nil {
				c.Abort(err)
				return err
			}
			count := all[c.Rank()].memory["count"]
			return c.AllReduce(count, count, collective.Sum)
		}
		t.right = func() (bool, error) {
			right := true
			for i := range group {
				p, got := &all[i], make([]uint64, 1)
				if err := errors.Join(p.memory["count"].Download(got), p.handle.Close()); err != nil {
					return false, err
				}
				for _, b := range p.memory {
					if err := b.Free(); err != nil {
						return false, err
					}
				}
				if *want == 0 {
					*want = got[0]
				}
				if got[0] != *want || *want == 0 || *want >= 1<<60 {
					fmt.Fprintf(s.log, "collectives: triangles: rank %d of %d has %d, expected %d\n", i, len(group), got[0], *want)
					right = false
				}
			}
			return right, nil
		}
		return t, err
	}
}

// gain is the work of a graph over that of its busiest part.
func gain(g *triangles.Graph, bounds []int) float64 {
	work := func(p *triangles.Graph) (sum uint64) {
		dense := p.Dense()
		for u := p.First; u < p.Vertices(); u++ { // rows of others are looked up only
			sum += dense(u)
		}
		return sum
	}
	var most uint64
	for i := range len(bounds) - 1 {
		most = max(most, work(g.Part(bounds[i], bounds[i+1])))
	}
	return float64(work(g)) / float64(most)
}
