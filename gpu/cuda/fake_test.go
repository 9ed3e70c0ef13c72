package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
	"warpbook/gpu/emu"
)

// fakeVariable makes this test binary a worker that runs the emulator in place
// of a GPU, so that all of the client is tested without one. Its value is a
// way to misbehave.
const fakeVariable = "WARPBOOK_TEST_CUDA_WORKER"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeVariable); how != "" {
		os.Exit(fakeWorker(how))
	}
	os.Exit(m.Run())
}

// openFake opens a device on a fake worker.
func openFake(t testing.TB, how string) (*Device, error) {
	t.Helper()
	return openNumber(t, how, 0)
}

func openNumber(t testing.TB, how string, number int) (*Device, error) {
	t.Helper()
	t.Setenv(fakeVariable, how)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // of the worker
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Open(Config{Worker: []string{self}, Number: number})
}

// fake is a worker on the emulator.
type fake struct {
	how     string
	device  gpu.Device
	arena   []byte
	buffers map[uint32]gpu.Buffer
	modules map[uint32]gpu.Module
	entries map[uint32]gpu.Entry
	events  map[uint32]gpu.Event
	graphs  map[uint32][]func() error
	large   map[uint32]bool // entries whose clusters may have more than 8 blocks, from the first command on that allows it
	failed  error           // of the commands that are not answered
	sticky  error           // a fault: everything fails from then on
	culprit command.Suspect

	textures fakeTextures
	nccl     fakeNCCL
}

func fakeWorker(how string) int {
	go func() { // end with the client, as the worker does
		os.NewFile(6, "life").Read(make([]byte, 1))
		os.Exit(0)
	}()
	out := os.NewFile(4, "answers")
	switch how {
	case "no GPU": // as cu's package does
		fmt.Println("Error in initialization: NoDevice")
		return 1
	case "no driver": // as the loader does
		fmt.Fprintln(os.Stderr, "worker: error while loading shared libraries: libcuda.so.1: cannot open shared object file")
		return 127
	}
	device, err := emu.Open("")
	if err != nil {
		panic(err)
	}
	out.Write(fakeHello(how, device.Info()).Append(nil))
	var s syscall.Stat_t
	if err := syscall.Fstat(5, &s); err != nil {
		panic(err)
	}
	arena, err := syscall.Mmap(5, 0, int(s.Size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	w := &fake{how: how, device: device, arena: arena, buffers: map[uint32]gpu.Buffer{}, modules: map[uint32]gpu.Module{},
		entries: map[uint32]gpu.Entry{}, events: map[uint32]gpu.Event{}, graphs: map[uint32][]func() error{}, large: map[uint32]bool{}}
	if err := command.Serve(os.NewFile(3, "commands"), out, w); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func fakeHello(how string, i gpu.Info) *command.Hello {
	h := &command.Hello{Protocol: command.Protocol, Name: i.Name, Driver: 13000, Bytes: i.GlobalBytes, Attributes: make([]int64, command.Attributes)}
	for a, v := range map[command.Attribute]int{
		command.Major: i.Compute.Major, command.Minor: i.Compute.Minor, command.SMs: i.SMs, command.L2Bytes: int(i.L2Bytes),
		command.SharedPerBlock: i.SharedPerBlock, command.SharedPerBlockMax: i.SharedPerBlockMax, command.SharedPerSM: i.SharedPerSM,
		command.RegistersPerSM: i.RegistersPerSM, command.ThreadsPerBlock: i.ThreadsPerBlock, command.ThreadsPerSM: i.ThreadsPerSM,
		command.BlocksPerSM: i.BlocksPerSM, command.GridX: i.MaxGrid.X, command.GridY: i.MaxGrid.Y, command.GridZ: i.MaxGrid.Z,
		command.BlockX: i.MaxBlock.X, command.BlockY: i.MaxBlock.Y, command.BlockZ: i.MaxBlock.Z,
	} {
		h.Attributes[a] = int64(v)
	}
	for _, arg := range os.Args[1:] {
		if number, ok := strings.CutPrefix(arg, "-device="); ok && number != "0" {
			h.Name += " " + number
		}
	}
	switch how {
	case "one":
		if h.Name != i.Name {
			h.Code, h.Text = command.CodeMissing, "there is no GPU 1, expected cuda:0 to cuda:0"
		}
	case "full":
		h.Code, h.Text = codeMemory, "context: CUDA_ERROR_OUT_OF_MEMORY"
	case "old driver":
		h.Driver = 12000
	case "old":
		h.Protocol--
	case "exclusive":
		h.Code, h.Text = codeUnavailable, "context: CUDA_ERROR_DEVICE_UNAVAILABLE"
	}
	return h
}

// Do executes a command.
func (w *fake) Do(c command.Command, answer *command.Answer) {
	err := w.sticky
	if err == nil {
		answer.Values, err = w.do(c)
	}
	if _, ok := c.(*command.Sync); ok && err == nil {
		err, w.failed = w.failed, nil
	}
	if err == nil {
		return
	}
	if answer.Number == 0 {
		if w.failed == nil {
			w.failed = err
		}
		return
	}
	answer.Code, answer.Text = command.CodeProtocol, err.Error()
	for code, kind := range map[int32]error{700: gpu.ErrOutOfBounds, 716: gpu.ErrMisaligned, 719: gpu.ErrTrap,
		codeMemory: gpu.ErrMemory, command.CodeInterrupted: gpu.ErrInterrupted, command.CodeMissing: gpu.ErrNotFound, command.CodeNCCL: errNCCL} {
		if errors.Is(err, kind) {
			answer.Code = code
		}
	}
	if w.sticky != nil {
		answer.Suspects = []command.Suspect{w.culprit}
	}
}

func (w *fake) do(c command.Command) (values []int64, err error) {
	switch c := c.(type) {
	case *command.Alloc:
		w.buffers[c.Buffer], err = w.device.Alloc(gpu.Uint8, int(c.Bytes))
	case *command.Free:
		err = w.buffers[c.Buffer].Free()
	case *command.Load:
		return w.load(c)
	case *command.Unload:
		err = w.modules[c.Module].Close()
	case *command.Launch:
		err = w.launch(c)
	case *command.Copy:
		err = w.copy(c)
	case *command.Zero:
		err = w.device.Zero(w.view(c.Range.Buffer, c.Range.Offset, c.Range.Bytes))
	case *command.NewEvent:
		w.events[c.Event], err = w.device.NewEvent()
	case *command.Record:
		err = w.device.Record(w.events[c.Event])
	case *command.Elapsed:
		var d time.Duration
		d, err = w.events[c.End].Since(w.events[c.Start])
		values = []int64{int64(d)}
	case *command.Time:
		return w.time(c)
	default:
		return w.more(c)
	}
	return values, err
}

// clusters answers as a driver does, which refuses no shape.
func (w *fake) clusters(c *command.Clusters) []int64 {
	info, blocks, most := w.device.Info(), int(c.Cluster[0]*c.Cluster[1]*c.Cluster[2]), 8
	if w.large[c.Entry] = w.large[c.Entry] || c.Large; w.large[c.Entry] {
		most = 16
	}
	perSM := info.Occupancy(int(c.Block[0]*c.Block[1]*c.Block[2]), 0, w.entries[c.Entry].Attributes().SharedBytes+int(c.Shared))
	if blocks > most {
		return []int64{0, int64(most)}
	}
	return []int64{int64(info.Clusters(blocks, perSM)), int64(min(most, info.ClusterLimit(perSM)))}
}

func (w *fake) more(c command.Command) (values []int64, err error) {
	switch c := c.(type) {
	case *command.Occupancy:
		n := w.device.Info().Occupancy(int(c.Threads), 0, w.entries[c.Entry].Attributes().SharedBytes+int(c.Shared))
		values = []int64{int64(n)}
	case *command.Clusters:
		values = w.clusters(c)
	case *command.AllocAsync:
		w.buffers[c.Buffer], err = w.device.Alloc(gpu.Uint8, int(c.Bytes))
	case *command.FreeAsync:
		err = w.buffers[c.Buffer].Free()
	case *command.Graph:
		w.graph(c)
	case *command.UpdateGraph:
		w.graphs[c.Graph][c.Node] = w.node(&c.Launch)
	case *command.LaunchGraph:
		err = w.launchGraph(c.Graph)
	case *command.CloseGraph:
		delete(w.graphs, c.Graph)
	case *command.OpenNCCL, *command.GroupID, *command.JoinGroup, *command.Collect, *command.PollGroup, *command.LeaveGroup:
		return w.nccl.do(c, w)
	default:
		return w.textures.do(c, w)
	}
	return values, err
}

func (w *fake) load(c *command.Load) (values []int64, err error) {
	m, err := w.device.Load("module", c.Text)
	if err != nil {
		return nil, err
	}
	w.modules[c.Module] = m
	for i, name := range c.Entries {
		e, err := m.Entry(name)
		if err != nil {
			return nil, err
		}
		w.entries[c.FirstEntry+uint32(i)] = e
		values = append(values, 32, 0, int64(e.Attributes().SharedBytes), 1024)
	}
	for i, name := range c.Variables {
		b, err := m.Global(name)
		if err != nil {
			return nil, err
		}
		w.buffers[c.FirstBuffer+uint32(i)] = b
		values = append(values, int64(b.Len()))
	}
	return values, nil
}

func (w *fake) view(buffer uint32, offset, bytes int64) gpu.Buffer {
	v, err := w.buffers[buffer].View(int(offset), int(bytes))
	if err != nil {
		panic(err)
	}
	return v
}

func (w *fake) copy(c *command.Copy) error {
	host := func(p command.Place) []byte { return w.arena[p.Offset : p.Offset+c.Bytes] }
	switch {
	case c.Dst.Buffer == 0 && c.Src.Buffer == 0:
		copy(host(c.Dst), host(c.Src))
		return nil
	case c.Dst.Buffer == 0:
		return w.view(c.Src.Buffer, c.Src.Offset, c.Bytes).Download(host(c.Dst))
	case c.Src.Buffer == 0:
		return w.view(c.Dst.Buffer, c.Dst.Offset, c.Bytes).Upload(host(c.Src))
	}
	return w.device.Copy(w.view(c.Dst.Buffer, c.Dst.Offset, c.Bytes), w.view(c.Src.Buffer, c.Src.Offset, c.Bytes))
}
