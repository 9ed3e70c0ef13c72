package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
)

// launchOn is a launch of an entry of testdata/faults.ptx on a rank, for one thread.
func launchOn(t testing.TB, c collective.Communicator, entry string, args ...any) gpu.Launch {
	t.Helper()
	m, err := c.Device().Load("faults.ptx", faultsPTX)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(entry)
	if err != nil {
		t.Fatal(err)
	}
	return gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: args}
}

// A collective has what launches before it have written, which the host has not awaited.
func TestCollectiveAfterWork(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator, launches int) {
		var want uint32
		buffers, adds := make([]gpu.Buffer, len(all)), make([]gpu.Launch, len(all))
		for i, c := range all {
			buffers[i] = on(t, c, gpu.Uint32, []uint32{0})
			adds[i] = launchOn(t, c, "add", buffers[i])
			want += uint32(launches * (i + 1))
		}
		if err := errors.Join(each(all, func(c collective.Communicator) error {
			for range launches * (c.Rank() + 1) {
				if err := c.Device().Launch(adds[c.Rank()]); err != nil {
					return err
				}
			}
			return c.Run(sum(buffers[c.Rank()]))
		})...); err != nil {
			t.Fatal(err)
		}
		for rank, b := range buffers {
			got := make([]uint32, 1)
			if err := b.Download(got); err != nil || got[0] != want {
				t.Errorf("rank %d has %v, %v, expected %d", rank, got, err, want)
			}
		}
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator"), 3) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime), 2000) })
}

// A fault of work before a collective, which the host has not awaited, is that rank's error,
// and ends the group within 5 s. The others keep their buffers.
func TestFaultBeforeCollective(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		last, buffers := len(all)-1, onAll(t, all)
		outside := launchOn(t, all[last], "outside", on(t, all[last], gpu.Uint32, []uint32{0}), uint64(1<<46))
		start := time.Now()
		for rank, err := range each(all, func(c collective.Communicator) error {
			if c.Rank() == last {
				if err := c.Device().Launch(outside); err != nil {
					t.Errorf("launch: %v", err)
				}
			}
			return c.Run(sum(buffers[c.Rank()]))
		}) {
			t.Logf("rank %d: %v", rank, err)
			want := error(gpu.ErrOutOfBounds)
			if rank != last {
				want = collective.ErrAborted
			}
			if !errors.Is(err, want) || !strings.Contains(err.Error(), "outside") || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected one line with the entry outside: %v", rank, err, want)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v, expected at most 5 s", took)
		}
		for rank := range last {
			if err := buffers[rank].Download(make([]float32, 1)); err != nil {
				t.Errorf("rank %d: the buffer: %v", rank, err)
			}
		}
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// A launch that the driver has refused, which the host has not been told, ends the group.
func TestRefusedLaunchBeforeCollective(t *testing.T) {
	all := fakeGroup(t, longTime, "emulator", "refuses launches")
	buffers := onAll(t, all)
	nothing := launchOn(t, all[1], "nothing")
	for rank, err := range each(all, func(c collective.Communicator) error {
		if c.Rank() == 1 {
			if err := c.Device().Launch(nothing); err != nil {
				t.Errorf("launch: %v", err)
			}
		}
		return c.Run(sum(buffers[c.Rank()]))
	}) {
		if t.Logf("rank %d: %v", rank, err); err == nil || !strings.Contains(err.Error(), "no memory for the stack") {
			t.Errorf("rank %d: %v, expected the refusal", rank, err)
		}
	}
}

// A collective in a capture of its device's stream is an error, by the host too: the launches
// before it have not run.
func TestCollectiveInCapture(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		buffers, adds := make([]gpu.Buffer, len(all)), make([]gpu.Launch, len(all))
		for i, c := range all {
			buffers[i] = on(t, c, gpu.Uint32, []uint32{5})
			adds[i] = launchOn(t, c, "add", buffers[i])
		}
		for rank, err := range each(all, func(c collective.Communicator) error {
			_, err := c.Device().Capture(c.Device(), func() error {
				return errors.Join(c.Device().Launch(adds[c.Rank()]), c.Run(sum(buffers[c.Rank()])))
			})
			return err
		}) {
			if !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "all-reduce: invalid argument: the stream is captured") &&
				!strings.Contains(err.Error(), "sync: invalid argument: the stream is captured") || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected one line about the capture", rank, err)
			}
		}
		for rank, b := range buffers {
			got := make([]uint32, 1)
			if err := b.Download(got); err != nil || got[0] != 5 {
				t.Errorf("rank %d has %v, %v, expected 5 as before", rank, got, err)
			}
		}
	}
	t.Run("memory", func(t *testing.T) { run(t, inMemory(t, 2)) })
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// A collective without elements, for which NCCL is not called, returns the error of the work
// before it.
func TestEmptyCollectiveAfterWork(t *testing.T) {
	all := fakeGroup(t, longTime, "emulator", "refuses launches")
	nothing := launchOn(t, all[1], "nothing")
	if err := all[1].Device().Launch(nothing); err != nil {
		t.Fatal(err)
	}
	empty := []gpu.Buffer{on(t, all[0], gpu.Float32, []float32{}), on(t, all[1], gpu.Float32, []float32{})}
	err := each(all, func(c collective.Communicator) error { return c.Run(sum(empty[c.Rank()])) })[1]
	says(t, "rank 1", err, "rank 1: all-reduce", "no memory for the stack")
}

// A rank whose worker has ended since the last collective ends the group, with the reason on
// every rank, also if it has new buffers in a new worker.
func TestRankLostBetweenCollectives(t *testing.T) {
	for name, fresh := range map[string]bool{"lost buffer": false, "new buffer": true} {
		t.Run(name, func(t *testing.T) {
			all := fakeGroup(t, longTime, "emulator", "emulator")
			buffers := onAll(t, all)
			broadcast := func(c collective.Communicator) error { return c.Broadcast(buffers[c.Rank()], 0) }
			if err := errors.Join(each(all, broadcast)...); err != nil {
				t.Fatal(err)
			}
			l := all[1].Device().(*Device).link
			l.process.Process.Kill()
			<-l.done
			if fresh {
				buffers[1] = on(t, all[1], gpu.Float32, []float32{1})
			}
			for range 2 {
				for rank, err := range each(all, broadcast) {
					if !errors.Is(err, gpu.ErrClosed) || !strings.HasSuffix(err.Error(), "rank 1: broadcast: gpu: closed: the worker ended: signal: killed") {
						t.Errorf("rank %d: %v, expected the end of the worker of rank 1", rank, err)
					}
				}
			}
		})
	}
}

// A worker that has not come to a collective, because it waits for room for the launches
// before it, is not killed at the end of the group.
func TestCollectiveBehindManyLaunches(t *testing.T) {
	before := unresponsive
	unresponsive = 50 * time.Millisecond
	defer func() { unresponsive = before }()
	all := fakeGroup(t, longTime, "emulator", "takes a millisecond")
	buffers := onAll(t, all)
	nothing := launchOn(t, all[1], "nothing")
	time.AfterFunc(100*time.Millisecond, func() { all[0].Abort(errors.New("the test ends it")) })
	for rank, err := range each(all, func(c collective.Communicator) error {
		for range inFlight + 100 {
			if c.Rank() == 1 {
				if err := c.Device().Launch(nothing); err != nil {
					return err
				}
			}
		}
		return c.Run(sum(buffers[c.Rank()]))
	}) {
		says(t, "a collective", err, "group ended: the test ends it")
		if err := buffers[rank].Download(make([]float32, 1)); err != nil {
			t.Errorf("rank %d: the buffer: %v", rank, err)
		}
	}
}

// A worker that is busy with other work is asked to leave the group until it has.
func TestLeaveBusy(t *testing.T) {
	var left []string
	leaving = func(text string) { left = append(left, text) }
	defer func() { leaving = func(string) {} }()
	all := fakeGroup(t, longTime, "busy", "busy")
	kept := on(t, all[0], gpu.Float32, []float32{42})
	l := all[0].Device().(*Device).link
	before := l.number
	got := make([]float32, 1)
	if err := errors.Join(all[0].Close(), kept.Download(got)); err != nil || got[0] != 42 || len(left) != 1 || l.number < before+3 {
		t.Errorf("%v, %v after %d commands, left %q, expected 42 and that the group was left at the third", err, got, l.number-before, left)
	}
}
