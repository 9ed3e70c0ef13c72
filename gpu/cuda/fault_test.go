package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/gpu"
)

//go:embed testdata/faults.ptx
var faultsPTX string

// bench is a device with the module of these tests.
type bench struct {
	*testing.T
	device *Device
	module gpu.Module
}

// both runs a test on a fake worker and, where there is one, on a GPU.
func both(t *testing.T, test func(*bench)) {
	for _, c := range []struct {
		name string
		open func(testing.TB) (*Device, error)
	}{
		{"fake", func(t testing.TB) (*Device, error) { return openFake(t, "emulator") }},
		{"GPU", openGPU},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.open(t)
			b := &bench{T: t, device: d}
			b.ok(err)
			defer func() { b.ok(d.Close()) }()
			b.module, err = d.Load("faults.ptx", faultsPTX)
			b.ok(err)
			test(b)
		})
	}
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) zeros(n int) gpu.Buffer {
	b.Helper()
	x, err := b.device.Alloc(gpu.Uint32, n)
	b.ok(err)
	b.ok(x.Upload(make([]uint32, n)))
	return x
}

// launch is one thread of an entry.
func (b *bench) launch(entry string, args ...any) gpu.Launch {
	b.Helper()
	e, err := b.module.Entry(entry)
	b.ok(err)
	return gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: args}
}

func (b *bench) run(l gpu.Launch) error {
	if err := b.device.Launch(l); err != nil {
		return err
	}
	return b.device.Sync()
}

// works checks that a launch runs again, and logs the delay.
func (b *bench) works(what string) {
	b.Helper()
	start := time.Now()
	x := b.zeros(1)
	b.ok(b.run(b.launch("add", x)))
	b.Logf("%s: the next launch was done %v later", what, time.Since(start).Round(time.Millisecond))
	got := make([]uint32, 1)
	b.ok(x.Download(got))
	if got[0] != 1 {
		b.Errorf("%s: the next launch gave %d, expected 1", what, got[0])
	}
	b.ok(x.Free())
}

// faulty are launches that fault, with the kind of the error.
func (b *bench) faulty(x gpu.Buffer) map[string]struct {
	launch gpu.Launch
	kind   error
} {
	return map[string]struct {
		launch gpu.Launch
		kind   error
	}{
		"outside":    {b.launch("outside", x, uint64(1<<46)), gpu.ErrOutOfBounds},
		"misaligned": {b.launch("outside", x, uint64(1)), gpu.ErrMisaligned},
		"trap":       {b.launch("traps"), gpu.ErrTrap},
	}
}

// TestFaults checks the error text, the lost buffers, and that the next call
// finds a fresh worker.
func TestFaults(t *testing.T) {
	both(t, func(b *bench) {
		for name := range b.faulty(b.zeros(4)) {
			x := b.zeros(4).Label("input")
			c := b.faulty(x)[name]
			c.launch.Shared = 64
			err := b.run(c.launch)
			b.Logf("%s: %v", name, err)
			var f *gpu.Fault
			if !errors.As(err, &f) || !errors.Is(err, c.kind) {
				b.Fatalf("%s: %v, expected a fault that wraps %q", name, err, c.kind)
			}
			entry := c.launch.Entry.Name()
			for _, word := range []string{entry, "grid (1,1,1) block (1,1,1) with 64 bytes", "lost: ", "buffer input (16 bytes)"} {
				if !strings.Contains(err.Error(), word) {
					b.Errorf("%s: %q, expected it to say %q", name, err, word)
				}
			}
			if err := x.Download(make([]uint32, 4)); !errors.Is(err, gpu.ErrClosed) || !strings.Contains(err.Error(), "lost with its worker") {
				b.Errorf("%s: a lost buffer answers %v", name, err)
			}
			if text := fmt.Sprint(x); !strings.HasPrefix(text, "buffer input: 4 uint32 on ") || !strings.Contains(text, ", lost with its worker: allocate it again: ") {
				b.Errorf("%s: a lost buffer is shown as %q", name, text)
			}
			b.works(name)
			b.ok(x.Free())
		}
	})
}

// TestBlame checks that of several launches the right one is named, also when
// it is found out late and by another call.
func TestBlame(t *testing.T) {
	both(t, func(b *bench) {
		x := b.zeros(4)
		for range 5 {
			b.ok(b.device.Launch(b.launch("add", x)))
		}
		b.ok(b.device.Launch(b.launch("outside", x, uint64(1<<46))))
		late := b.launch("nothing")
		late.Grid.X = 3
		for range 3 {
			if err := b.device.Launch(late); err != nil {
				b.Logf("a launch after the fault: %v", err)
			}
		}
		_, err := b.device.Alloc(gpu.Uint32, 1)
		b.Logf("alloc: %v", err)
		var f *gpu.Fault
		if err := b.device.Sync(); !errors.As(err, &f) || f.Entry != "outside" {
			b.Errorf("sync: %v, expected a fault of outside", err)
		}
		b.ok(b.device.Sync())
		b.works("late fault")
	})
}

// TestKilled checks the end of a worker under a device.
func TestKilled(t *testing.T) {
	both(t, func(b *bench) {
		x := b.zeros(4)
		b.ok(b.device.Launch(b.launch("add", x)))
		b.ok(b.device.Sync())
		b.ok(b.device.link.process.Process.Kill())
		<-b.device.link.done
		err := x.Upload(make([]uint32, 4))
		b.Logf("upload: %v", err)
		if !errors.Is(err, gpu.ErrClosed) || !strings.Contains(err.Error(), "signal: killed") {
			b.Errorf("upload to a buffer of a killed worker: %v", err)
		}
		b.works("kill")
	})
}

// tries is how often a test stops a launch, each time later, until it stops it in time:
// on a busy machine a launch may begin late.
const tries = 5

// TestKilledUnderLaunch checks that a killed worker ends the call that waits.
func TestKilledUnderLaunch(t *testing.T) {
	both(t, func(b *bench) {
		killed := false // under the launch; on a busy machine it may come before
		for try := 0; try < tries && !killed; try++ {
			x := b.zeros(1)
			time.AfterFunc(300*time.Millisecond<<try, func() { b.device.link.process.Process.Signal(syscall.SIGKILL) })
			err := b.run(b.launch("endless", x))
			b.Logf("sync: %v", err)
			var f *gpu.Fault
			killed = errors.As(err, &f) && errors.Is(err, gpu.ErrClosed) && f.Entry == "endless"
			b.works("kill under a launch")
		}
		if !killed {
			b.Errorf("expected a fault of endless that wraps %q", gpu.ErrClosed)
		}
	})
}

// TestInterrupt checks both ways to end an endless launch, and one that ends
// within the grace.
func TestInterrupt(t *testing.T) {
	both(t, func(b *bench) {
		for _, twice := range []bool{false, true} {
			x := b.zeros(1).Label("flag")
			done := make(chan error, 1)
			l := b.launch("endless", x)
			go func() { done <- b.run(l) }()
			var err error
			var ending bool
			var start time.Time
			for wait := 200 * time.Millisecond; err == nil; wait *= 2 { // an interrupt before the launch ends nothing
				time.Sleep(wait)
				start = time.Now()
				b.device.Interrupt()
				ending = b.device.Ending()
				if twice {
					b.device.Interrupt()
				}
				select {
				case err = <-done:
				case <-time.After(10 * time.Second):
				}
			}
			if !ending {
				b.Error("a launch is being ended, and Ending says that nothing is")
			}
			b.Logf("twice %v: %v after %v", twice, err, time.Since(start).Round(time.Millisecond))
			if !errors.Is(err, gpu.ErrInterrupted) || !strings.Contains(err.Error(), "buffer flag (4 bytes)") {
				b.Errorf("%v, expected an interrupt that names the lost buffer", err)
			}
			b.works("interrupt")
		}
		x := b.zeros(1)
		b.device.Interrupt() // nothing runs: nothing is lost
		for range 6000 {
			if time.Sleep(20 * time.Millisecond); !b.device.Ending() {
				break
			}
		}
		if b.device.Ending() {
			b.Error("nothing runs, and Ending says that something is being ended")
		}
		b.ok(b.run(b.launch("add", x)))
	})
}

// ended waits for a launch that was interrupted, and interrupts it again if the
// interrupt came before the launch: then it has ended nothing.
func (b *bench) ended(done <-chan error) error {
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(10 * time.Second):
			b.device.Interrupt()
		}
	}
}

// TestInterruptTime checks that a measurement ends between two runs and loses
// nothing.
func TestInterruptTime(t *testing.T) {
	both(t, func(b *bench) {
		x := b.zeros(1)
		got := make([]uint32, 1)
		for try := 0; try < tries && got[0] == 0; try++ {
			done := make(chan error, 1)
			add := b.launch("add", x)
			go func() { done <- second(b.device.Time(gpu.Timing{Repeats: 100_000_000}, add)) }()
			time.Sleep(200 * time.Millisecond << try)
			b.device.Interrupt()
			err := b.ended(done)
			b.Log(err)
			if !errors.Is(err, gpu.ErrInterrupted) {
				b.Errorf("%v, expected %q", err, gpu.ErrInterrupted)
			}
			b.ok(x.Download(got))
		}
		if got[0] == 0 {
			b.Error("nothing ran")
		}
		times, err := b.device.Time(gpu.Timing{Warmup: 1, Repeats: 100, Flush: true, Graph: true}, b.launch("add", x), b.launch("nothing"))
		b.ok(err)
		if len(times) != 100 {
			b.Errorf("%d times, expected 100", len(times))
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestKeep checks that a buffer that is kept outlives its worker.
func TestKeep(t *testing.T) {
	both(t, func(b *bench) {
		x, y := b.zeros(4), b.zeros(4)
		b.ok(x.Keep())
		b.ok(b.run(b.launch("add", x)))
		if err := b.run(b.launch("traps")); err == nil || strings.Contains(err.Error(), "2 more") {
			b.Fatalf("trap: %v", err)
		}
		got := make([]uint32, 4)
		b.ok(x.Download(got))
		if got[0] != 1 || got[1] != 0 {
			b.Errorf("a kept buffer has %v, expected 1 0 0 0", got)
		}
		if err := y.Download(got); !errors.Is(err, gpu.ErrClosed) {
			b.Errorf("a buffer that was not kept answers %v", err)
		}
		b.ok(x.Free())
	})
}

// TestManyFaults checks that faults leave no process, descriptor, goroutine or
// memory behind.
func TestManyFaults(t *testing.T) {
	replaying(t, func(b *bench) {
		const n = 200
		host, err := b.device.AllocHost(gpu.Uint32, 1<<10)
		b.ok(err)
		host.Slice().([]uint32)[5] = 42
		files, goroutines := b.held()
		before, resident := b.freeHost(), b.resident()
		start := time.Now()
		for i := range n {
			x := b.zeros(1 << 10)
			c := b.faulty(x)[[]string{"outside", "misaligned", "trap"}[i%3]]
			if err := b.run(c.launch); !errors.Is(err, c.kind) {
				b.Fatalf("fault %d: %v, expected %q", i, err, c.kind)
			}
		}
		b.Logf("%d faults, each with a fresh worker: %v each", n, (time.Since(start) / n).Round(time.Millisecond))
		x := b.zeros(1 << 10)
		b.ok(b.device.Copy(x, host))
		b.ok(b.device.Sync())
		got := make([]uint32, 1<<10)
		b.ok(x.Download(got))
		if got[5] != 42 {
			b.Error("host memory did not outlive the workers")
		}
		b.leaves(files, goroutines)
		b.device.recall.forget(b.device.main.handle)
		if after := b.freeHost() + slots*slotBytes; after != before { // the ring is there since
			b.Errorf("%d bytes of host memory are free, %d before", after, before)
		}
		b.Logf("%d MiB resident, %d before", b.resident()>>20, resident>>20)
		if grown := b.resident() - resident; grown > 64<<20 {
			b.Errorf("%d bytes more are resident after %d faults", grown, n)
		}
		if n := len(b.device.buffers); n > 1 {
			b.Errorf("%d buffers are still known, expected 1", n)
		}
	})
}

// freeHost is the number of free bytes of the arena.
func (b *bench) freeHost() (bytes int64) {
	b.device.arena.mu.Lock()
	defer b.device.arena.mu.Unlock()
	for _, s := range b.device.arena.free {
		bytes += s.bytes
	}
	return bytes
}

// resident is the memory of this process, in bytes.
func (b *bench) resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skipf("needs /proc to count memory: %v", err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// held counts the descriptors and goroutines of this process.
func (b *bench) held() (files, goroutines int) {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.Skipf("needs /proc to count descriptors: %v", err)
	}
	return len(list), runtime.NumGoroutine()
}

// leaves checks that only the earlier resources and the worker are held, once
// the last one that was killed has ended.
func (b *bench) leaves(files, goroutines int) {
	b.Helper()
	nowFiles, nowGoroutines := b.held()
	for range 2400 { // 2 minutes
		if nowFiles <= files+1 && nowGoroutines <= goroutines+2 && zombies(b.T) <= 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
		nowFiles, nowGoroutines = b.held()
	}
	b.Logf("descriptors %d then %d, goroutines %d then %d", files, nowFiles, goroutines, nowGoroutines)
	if nowFiles > files+1 || nowGoroutines > goroutines+2 {
		b.Errorf("descriptors %d then %d, goroutines %d then %d: something is left", files, nowFiles, goroutines, nowGoroutines)
	}
	if children := zombies(b.T); children > 1 {
		b.Errorf("%d child processes, expected 1", children)
	}
}

// zombies counts the child processes of this one.
func zombies(t *testing.T) (n int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		n += len(strings.Fields(string(text)))
	}
	return n
}

// TestWorkerExit checks a worker that ends by itself.
func TestWorkerExit(t *testing.T) {
	d, err := openFake(t, "dies")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := &bench{T: t, device: d}
	b.module, err = d.Load("faults.ptx", faultsPTX)
	b.ok(err)
	err = b.run(b.launch("nothing"))
	t.Log(err)
	if !errors.Is(err, gpu.ErrClosed) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("%v, expected the exit status and the launch", err)
	}
}
