package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/gpu/cuda"
	"warpbook/gpu/device"
	sources "warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

// notebook is a session on a device, with the text that its cells have printed.
type notebook struct {
	*testing.T
	session *cellproc.Client
	cells   int

	mu      sync.Mutex
	printed string // guarded by mu
}

// openNotebook starts the program that WARPBOOK_CELLS names, or builds one.
// WARPBOOK_DEVICE names its device; the default is the emulator.
func openNotebook(t *testing.T) *notebook {
	t.Helper()
	path := os.Getenv(sources.Env)
	if path == "" {
		var err error
		if path, err = built(); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv(device.Variable) == "" {
		t.Setenv(device.Variable, "emu")
	}
	s, err := cellproc.Start(cellproc.Config{Program: path, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &notebook{T: t, session: s}
}

// run executes a cell and returns its error, with its traceback, and its printed text.
func (n *notebook) run(code string) (failed, printed string) {
	n.Helper()
	n.cells++
	n.printed = ""
	done, err := n.session.Execute(context.Background(), code, n.cells, n.sink)
	if err != nil {
		n.Fatal(err)
	}
	if done.Error != nil {
		failed = done.Error.Name + ": " + done.Error.Value + "\n" + strings.Join(done.Error.Traceback, "\n")
	}
	n.sink(done)
	n.mu.Lock()
	defer n.mu.Unlock()
	return failed, n.printed
}

func (n *notebook) sink(e cellproto.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if text, ok := e.Data["text/plain"].(string); ok {
		n.printed += text
	}
	n.printed += e.Text
}

// gives checks the text that a cell prints.
func (n *notebook) gives(code, want string) {
	n.Helper()
	if failed, printed := n.run(code); failed != "" || !strings.Contains(printed, want) {
		n.Errorf("%s: %q %s, expected %q", code, printed, failed, want)
	}
}

const deviceCell = `import ("warpbook/gpu"; "warpbook/gpu/device")
dev := device.MustOpen("")
n := 41
mine, _ := dev.Alloc(gpu.Uint32, 4)
mine.Label("mine")
kept, _ := dev.Alloc(gpu.Uint32, 1)
_ = kept.Upload([]uint32{7})
_ = kept.Keep()
one := func(e gpu.Entry, args ...any) error {
	if err := dev.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: args}); err != nil {
		return err
	}
	return dev.Sync()
}
var trapping, running gpu.Entry
trapping, _ = traps.On(dev)
running, _ = endless.On(dev)`

const faultyCell = `%%ptx
.version 6.4
.target sm_75
.address_size 64
.visible .entry traps() { trap; ret; }
.visible .entry endless(.param .u64 x)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd0, [x];
again:
	ld.volatile.global.u32 %r0, [%rd0];
	add.u32 %r0, %r0, 1;
	st.volatile.global.u32 [%rd0], %r0;
	bra again;
}`

// TestDeviceFaults: a fault or an interrupt ends only the cell and, on a GPU, loses the
// buffers that were not kept.
func TestDeviceFaults(t *testing.T) {
	n := openNotebook(t)
	for _, code := range []string{faultyCell, deviceCell, "_ = mine.Upload([]uint32{1, 2, 3, 4})"} {
		if failed, _ := n.run(code); failed != "" {
			t.Fatal(failed)
		}
	}
	n.survives("a trap", func() string {
		failed, _ := n.run("one(trapping)")
		if !strings.Contains(failed, "traps: trap") {
			t.Errorf("a trap: %s", failed)
		}
		return failed
	})
	for _, twice := range []bool{false, true} {
		most := 3 * time.Second // 2 s for the launch to end, and 0.3
		if twice {
			most = time.Second
		}
		const tries = 5 // the machine may be busy, so the best counts
		least := time.Hour
		for try := 0; try < tries && least > most; try++ {
			n.survives("an endless launch", func() string {
				text, took := n.stopped(twice)
				least = min(least, took)
				return text
			})
		}
		if least > most {
			t.Errorf("stopped twice %v: the cell ended %v after the stop, expected at most %v", twice, least, most)
		}
	}
}

// survives checks that variables and the kept buffer outlive the failure, that the
// other buffer reports its loss, and that the next cell runs.
func (n *notebook) survives(what string, fails func() string) {
	n.Helper()
	n.run(`mine, _ = dev.Alloc(gpu.Uint32, 4)
mine.Label("mine")
mine.Upload([]uint32{1, 2, 3, 4})`)
	failed := fails()
	n.Logf("%s: %s", what, failed)
	start := time.Now()
	n.gives("n + 1", "42")
	n.gives("back := make([]uint32, 1)\nif err := kept.Download(back); err != nil { panic(err) }\nback[0]", "7")
	n.Logf("%s: the kept buffer was back after %v", what, time.Since(start).Round(time.Millisecond))
	if strings.HasPrefix(os.Getenv(device.Variable), "emu") {
		n.gives("four := make([]uint32, 4)\nif err := mine.Download(four); err != nil { panic(err) }\nfour[3]", "4")
		return
	}
	if !strings.Contains(failed, "lost: buffer mine (16 bytes)") {
		n.Errorf("%s: %s, expected it to name the buffer that is lost", what, failed)
	}
	if lost, _ := n.run("mine.Download(make([]uint32, 4))"); !strings.Contains(lost, "buffer mine (16 bytes) was lost with its worker") {
		n.Errorf("%s: a lost buffer answers %q", what, lost)
	}
}

// stopped interrupts an endless launch, once or repeatedly, and returns the cell's
// error text and how long after the last interrupt it ended.
func (n *notebook) stopped(twice bool) (text string, took time.Duration) {
	n.Helper()
	last := make(chan time.Time, 1) // when the last interrupt was sent
	time.AfterFunc(500*time.Millisecond, func() {
		stop := time.Now()
		n.session.Interrupt()
		if twice {
			time.Sleep(50 * time.Millisecond)
			stop = time.Now()
			n.session.Interrupt()
		}
		last <- stop
	})
	failed, printed := n.run("one(running, mine)")
	end := time.Now()
	took = end.Sub(<-last) // the first interrupt may have ended it
	n.Logf("stopped twice %v: the cell ended %v after the last stop, and printed %q", twice, took.Round(time.Millisecond), printed)
	if !twice && !strings.HasPrefix(os.Getenv(device.Variable), "emu") && !strings.Contains(printed, "waiting 2s for the running launch to end") {
		n.Errorf("the first stop prints %q, expected it to say what it waits for", printed)
	}
	return failed + " " + printed, took
}

// TestChoosesDevice: the environment chooses a notebook's device, a call in a cell
// chooses a second one, and a fault on the second leaves the first intact: two GPUs
// where there are two, otherwise two emulators.
func TestChoosesDevice(t *testing.T) {
	first, second := "emu:t4", "emu:rtx4060"
	if cuda.Count() > 1 && strings.HasPrefix(os.Getenv(device.Variable), "cuda") {
		first, second = "cuda:1", "cuda:0"
	}
	t.Setenv(device.Variable, first)
	n := openNotebook(t)
	n.gives(`import ("errors"; "warpbook/gpu"; "warpbook/gpu/device")
chosen, named, other := device.MustOpen(""), device.MustOpen("`+first+`"), device.MustOpen("`+second+`")
which := func(d gpu.Device) string { return d.Info().Name + d.Info().UUID }
which(chosen) == which(named) && which(chosen) != which(other)`, "true")
	if failed, _ := n.run(faultyCell); failed != "" {
		t.Fatal(failed)
	}
	n.gives(`x, _ := chosen.Alloc(gpu.Uint32, 1)
_ = x.Upload([]uint32{7})
trapping, _ := traps.On(other)
errors.Join(other.Launch(gpu.Launch{Entry: trapping, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}}), other.Sync()) != nil`, "true")
	n.gives("back := make([]uint32, 1)\nif err := x.Download(back); err != nil { panic(err) }\nback[0]", "7")
}
