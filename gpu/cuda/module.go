package cuda

import (
	"fmt"
	"slices"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
	"warpbook/gpu/loader"
	"warpbook/gpu/ptx"
)

// module is PTX and its handles. A fresh worker loads it again when it is
// first used there.
type module struct {
	dev     *Device
	text    *ptx.Module
	entries []*entry
	load    command.Load // the same for every worker

	mu        sync.Mutex
	link      *link         // that has loaded it; guarded by mu
	variables []*allocation // by load.Variables; guarded by mu
	closed    bool          // guarded by mu
}

// entry is a function of a module.
type entry struct {
	module     *module
	function   *ptx.Function
	handle     uint32
	params     []gpu.Param
	offsets    []uint32 // of the parameters
	bytes      int      // of all parameters
	attributes gpu.Attributes
	threads    int      // that a block may have, because of registers
	fit        sync.Map // int, blocks that an SM holds, by blockShape
	clusters   sync.Map // [2]int, clusters that the device holds and the most blocks of one, by command.Clusters
}

// blockShape is the part of a launch that occupancy depends on.
type blockShape struct{ threads, shared int }

// Load checks PTX and loads it; the error holds the assembler's log.
func (d *Device) Load(name, text string) (gpu.Module, error) {
	if err := d.usable("load " + name); err != nil {
		return nil, err
	}
	parsed, err := loader.Parse(d.info, name, text, driverFor)
	if err != nil {
		return nil, err
	}
	m := &module{dev: d, text: parsed, load: command.Load{Module: d.handle(), Text: text}}
	for _, f := range parsed.Functions {
		if f.Entry {
			m.entries = append(m.entries, newEntry(m, f))
			m.load.Entries = append(m.load.Entries, f.Name)
			m.load.Offsets = append(m.load.Offsets, m.entries[len(m.entries)-1].offsets)
		}
	}
	for _, v := range parsed.Variables {
		if (v.Space == ptx.Global || v.Space == ptx.Const) && !v.Extern {
			m.load.Variables = append(m.load.Variables, v.Name)
		}
	}
	m.number()
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: load %s: %w", name, err)
	}
	if err := m.ensure(l); err != nil {
		return nil, err
	}
	return m, nil
}

// number gives the entries and variables their handles.
func (m *module) number() {
	n := uint32(len(m.entries) + len(m.load.Variables))
	m.load.FirstEntry = m.dev.handles.Add(n) - n + 1
	m.load.FirstBuffer = m.load.FirstEntry + uint32(len(m.entries))
	for i, e := range m.entries {
		e.handle = m.load.FirstEntry + uint32(i)
	}
}

func newEntry(m *module, f *ptx.Function) *entry {
	e := &entry{module: m, function: f}
	for _, v := range f.Params {
		align := max(1, v.Align)
		e.bytes = (e.bytes + align - 1) / align * align
		e.offsets = append(e.offsets, uint32(e.bytes))
		e.bytes += v.Bytes()
		e.params = append(e.params, gpu.Param{
			Name: v.Name, Bytes: v.Bytes(), Align: max(1, v.Align), Type: string(v.Type), Count: v.Count * v.Vector,
			Pointer: v.Ptr != nil || v.Count == 1 && (v.Type == "u64" || v.Type == "b64"),
		})
	}
	threads := func(d [3]int) int {
		if d[0] == 0 {
			return 0
		}
		return d[0] * max(1, d[1]) * max(1, d[2])
	}
	e.attributes.MaxThreads = threads(f.MaxThread)
	if threads(f.ReqThread) > 0 {
		e.attributes.Block = gpu.Dim{X: f.ReqThread[0], Y: f.ReqThread[1], Z: f.ReqThread[2]}
	}
	if threads(f.Cluster) > 0 {
		e.attributes.Cluster = gpu.Dim{X: f.Cluster[0], Y: f.Cluster[1], Z: f.Cluster[2]}.Full()
	}
	return e
}

// ensure loads the module into a worker that does not have it.
func (m *module) ensure(l *link) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return fmt.Errorf("%w: module %s was closed", gpu.ErrClosed, m.text.Name)
	}
	if m.link == l {
		return nil
	}
	a, err := m.dev.do(l, &m.load, "load "+m.text.Name)
	if err != nil {
		return err
	}
	if want := command.EntryValues*len(m.entries) + len(m.load.Variables); len(a.Values) != want {
		return fmt.Errorf("cuda: load %s: %d values in the answer, expected %d", m.text.Name, len(a.Values), want)
	}
	for i, e := range m.entries {
		v := a.Values[command.EntryValues*i:]
		e.attributes.Registers, e.attributes.LocalBytes = int(v[0]), int(v[1])
		e.attributes.SharedBytes, e.threads = int(v[2]), int(v[3])
	}
	m.variables = nil
	for i, bytes := range a.Values[command.EntryValues*len(m.entries):] {
		x := &allocation{handle: m.load.FirstBuffer + uint32(i), bytes: bytes, typ: gpu.Uint8, what: m.load.Variables[i], module: m}
		x.link.Store(l)
		m.variables = append(m.variables, x)
	}
	m.link = l
	return nil
}

// Entries lists the entries in the order of the text.
func (m *module) Entries() []string { return slices.Clone(m.load.Entries) }

// Entry finds an entry.
func (m *module) Entry(name string) (gpu.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("cuda: entry %s: %w: module %s was closed", name, gpu.ErrClosed, m.text.Name)
	}
	if i := slices.Index(m.load.Entries, name); i >= 0 {
		return m.entries[i], nil
	}
	return nil, fmt.Errorf("cuda: entry %s of %s: %w, %s", name, m.text.Name, gpu.ErrNotFound, gpu.Nearest(name, m.load.Entries))
}

// Global is the memory of a variable in the device's present worker. In a
// fresh worker variables have their first contents again.
func (m *module) Global(name string) (gpu.Buffer, error) {
	l, err := m.dev.worker()
	if err == nil {
		err = m.ensure(l)
	}
	if err != nil {
		return nil, asFault("global "+name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.load.Variables, name)
	if i < 0 {
		return nil, fmt.Errorf("cuda: global %s of %s: %w, %s", name, m.text.Name, gpu.ErrNotFound, gpu.Nearest(name, m.load.Variables))
	}
	x := m.variables[i]
	if x.bytes < 0 {
		return nil, fmt.Errorf("cuda: global %s of %s: %w: the assembler left it out, because nothing uses it", name, m.text.Name, gpu.ErrNotFound)
	}
	return &buffer{dev: m.dev, memory: x, typ: gpu.Uint8, n: int(x.bytes)}, nil
}

// Close releases the module.
func (m *module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return fmt.Errorf("cuda: close module %s: %w: it was closed before", m.text.Name, gpu.ErrClosed)
	}
	m.closed = true
	for _, x := range m.variables {
		x.freed.Store(true)
	}
	m.link.post(&command.Unload{Module: m.load.Module}) // an error means that the worker, and so the module, is gone
	return nil
}

func (e *entry) Name() string        { return e.function.Name }
func (e *entry) Params() []gpu.Param { return slices.Clone(e.params) }

// Attributes are the driver's attributes of the entry.
func (e *entry) Attributes() gpu.Attributes {
	e.module.mu.Lock()
	defer e.module.mu.Unlock()
	return e.attributes
}
