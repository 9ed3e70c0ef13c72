package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// The part of the fake worker that launches, alone and in graphs.

// decode turns a command back into a launch.
func (w *fake) decode(c *command.Launch) gpu.Launch {
	dim := func(d [3]uint32) gpu.Dim { return gpu.Dim{X: int(d[0]), Y: int(d[1]), Z: int(d[2])} }
	l := gpu.Launch{Entry: w.entries[c.Entry], Grid: dim(c.Grid), Block: dim(c.Block), Shared: int(c.Shared)}
	l.Cooperative, l.Cluster, l.LargeCluster = c.Cooperative, dim(c.Cluster), c.Large
	at := 0
	for _, p := range l.Entry.Params() {
		at = (at + p.Align - 1) / p.Align * p.Align
		l.Args = append(l.Args, w.argument(c, p, at))
		at += p.Bytes
	}
	for _, z := range c.Zero {
		l.Zero = append(l.Zero, w.view(z.Buffer, z.Offset, z.Bytes))
	}
	return l
}

func (w *fake) argument(c *command.Launch, p gpu.Param, at int) any {
	if p.Count > 1 {
		return w.compound(c, p, at)
	}
	for _, a := range c.Addresses {
		if int(a.At) == at {
			return w.address(a)
		}
	}
	raw := make([]byte, 8)
	copy(raw, c.Params[at:at+p.Bytes])
	bits := binary.LittleEndian.Uint64(raw)
	if o := w.textures.objects[bits]; o != nil {
		return o
	}
	switch p.Type {
	case "f32":
		return math.Float32frombits(uint32(bits))
	case "f64":
		return math.Float64frombits(bits)
	}
	return map[int]any{1: uint8(bits), 2: uint16(bits), 4: uint32(bits), 8: bits}[p.Bytes]
}

// address is the rest of a buffer from an address on.
func (w *fake) address(a command.Address) gpu.Buffer {
	return w.view(a.Buffer, a.Offset, int64(w.buffers[a.Buffer].Len())-a.Offset)
}

// compound is a struct by value: bytes, with buffers between them.
func (w *fake) compound(c *command.Launch, p gpu.Param, at int) any {
	var fields []reflect.StructField
	var values []reflect.Value
	add := func(v reflect.Value, t reflect.Type) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", len(fields)), Type: t})
		values = append(values, v)
	}
	end := at + p.Bytes
	for _, a := range c.Addresses {
		if from := int(a.At); from >= at && from < end {
			for ; at < from; at++ {
				add(reflect.ValueOf(c.Params[at]), reflect.TypeFor[byte]())
			}
			add(reflect.ValueOf(w.address(a)), reflect.TypeFor[gpu.Buffer]())
			at += 8
		}
	}
	for ; at < end; at++ {
		add(reflect.ValueOf(c.Params[at]), reflect.TypeFor[byte]())
	}
	v := reflect.New(reflect.StructOf(fields)).Elem()
	for i, field := range values {
		v.Field(i).Set(field)
	}
	return v.Interface()
}

// graph makes the work of a graph, to be run in the order of its nodes.
func (w *fake) graph(c *command.Graph) {
	g := make([]func() error, len(c.Nodes))
	for i := range c.Nodes {
		switch n := &c.Nodes[i]; n.Work {
		case command.NodeLaunch:
			g[i] = w.node(&n.Launch)
		case command.NodeCopy:
			move := n.Copy
			g[i] = func() error { return w.copy(&move) }
		default:
			r := n.Zero
			g[i] = func() error { return w.device.Zero(w.view(r.Buffer, r.Offset, r.Bytes)) }
		}
	}
	w.graphs[c.Graph] = g
}

func (w *fake) node(c *command.Launch) func() error {
	l, shape := w.decode(c), *c
	return func() error { return w.run(l, &shape) }
}

func (w *fake) launchGraph(number uint32) error {
	for _, work := range w.graphs[number] {
		if err := work(); err != nil {
			return err
		}
	}
	return nil
}

func (w *fake) launch(c *command.Launch) error {
	return w.run(w.decode(c), c)
}

func (w *fake) run(l gpu.Launch, c *command.Launch) error {
	if w.how == "dies" {
		os.Exit(3)
	}
	if w.how == "takes a millisecond" {
		time.Sleep(time.Millisecond)
	}
	if w.how == "refuses launches" {
		return fmt.Errorf("%w: no memory for the stack", gpu.ErrMemory)
	}
	err := error(&gpu.Fault{Kind: gpu.ErrTrap}) // at once, as a GPU would
	if l.Entry.Name() != "slow" {
		err = w.device.Launch(l)
	}
	if err != nil {
		w.sticky = err
		w.culprit = command.Suspect{Entry: l.Entry.Name(), Grid: c.Grid, Block: c.Block, Shared: c.Shared}
	}
	return err
}

func (w *fake) time(c *command.Time) (values []int64, err error) {
	var launches []gpu.Launch
	for i := range c.Launches {
		launches = append(launches, w.decode(&c.Launches[i]))
	}
	stop := (*atomic.Uint32)(unsafe.Pointer(&w.arena[c.StopAt]))
	for i := range int(c.Warmup + c.Repeats) {
		times, err := w.device.Time(gpu.Timing{Repeats: 1}, launches...)
		if err != nil {
			return nil, err
		}
		if stop.Load() != c.Interrupts {
			return nil, gpu.ErrInterrupted
		}
		if i >= int(c.Warmup) {
			values = append(values, int64(times[0]))
		}
	}
	return values, nil
}
