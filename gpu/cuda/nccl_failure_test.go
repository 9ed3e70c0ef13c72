package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
)

// Arguments that do not fit are an error on every rank before NCCL sees them, and the group
// goes on.
func TestCollectiveArguments(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		buffers := onAll(t, all)
		longer := make([]gpu.Buffer, len(all))
		for i, c := range all {
			longer[i] = on(t, c, gpu.Float32, make([]float32, 2*len(all)))
		}
		for want, f := range map[string]func(c collective.Communicator) error{
			"rank 1 calls all-reduce of": func(c collective.Communicator) error {
				b := buffers[c.Rank()]
				if c.Rank() == 1 {
					b = longer[1]
				}
				return c.AllReduce(b, b, collective.Sum)
			},
			"elements of output, expected": func(c collective.Communicator) error {
				return c.ReduceScatter(longer[c.Rank()], buffers[c.Rank()], collective.Sum)
			},
			"a buffer of another device": func(c collective.Communicator) error { return c.Broadcast(buffers[0], 0) },
			"root 77":                    func(c collective.Communicator) error { return c.Broadcast(buffers[c.Rank()], 77) },
		} {
			for rank, err := range each(all, f) {
				if !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("rank %d: %v, expected one line with %q", rank, err, want)
				}
			}
		}
		agree(t, all, []int{3}, gpu.Float32)
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// A rank whose process is killed in the middle of a collective is an error on every rank
// within 5 s; the others keep their buffers, and the devices make a new group. The log has
// how NCCL stopped.
func TestKilledRank(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		last := len(all) - 1
		leaving = func(text string) { t.Log(text) }
		defer func() { leaving = func(string) {} }()
		var kept []gpu.Buffer
		buffers := make([]gpu.Buffer, len(all))
		for i, c := range all {
			buffers[i] = on(t, c, gpu.Float32, make([]float32, 1<<10))
			kept = append(kept, on(t, c, gpu.Float32, []float32{42}))
		}
		killed := make(chan time.Time, 1)
		go func() {
			time.Sleep(300 * time.Millisecond) // the collectives are under way
			killed <- time.Now()
			all[last].Device().(*Device).link.process.Process.Kill()
		}()
		ended := make([]time.Time, len(all))
		errs := each(all, func(c collective.Communicator) error {
			defer func() { ended[c.Rank()] = time.Now() }()
			for {
				b := buffers[c.Rank()]
				if _, err := c.Time(gpu.Timing{Repeats: 1000}, collective.Call{Kind: collective.AllReduce, In: b, Out: b}); err != nil {
					return err
				}
			}
		})
		at := <-killed
		for rank, err := range errs {
			took := ended[rank].Sub(at)
			t.Logf("rank %d after %v: %v", rank, took.Round(time.Millisecond), err)
			if took > 5*time.Second || strings.Contains(err.Error(), "\n") || rank != last && !errors.Is(err, collective.ErrAborted) {
				t.Errorf("rank %d after %v: %v, expected an error of one line within 5 s", rank, took, err)
			}
		}
		for rank := range last {
			got := make([]float32, 1)
			if err := kept[rank].Download(got); err != nil || got[0] != 42 {
				t.Errorf("rank %d: another buffer is %v, %v, expected 42", rank, got, err)
			}
		}
		var left []gpu.Device
		for _, c := range all { // the last with a fresh worker
			left = append(left, c.Device())
		}
		again, err := collective.New(longTime, left...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			for _, c := range again {
				c.Close()
			}
		}()
		if again[0].Transport() != all[0].Transport() {
			t.Errorf("the new group is by %s, expected %s", again[0].Transport(), all[0].Transport())
		}
		agree(t, again, []int{3}, gpu.Float32)
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// A rank whose worker fails, dies, hangs or waits is an error on every rank.
func TestRanksThatFail(t *testing.T) {
	before := unresponsive
	unresponsive = 50 * time.Millisecond
	defer func() { unresponsive = before }()
	for how, want := range map[string]string{
		"dies in a collective": "the worker ended: exit status 3",
		"does not stop":        "did not end on rank",
		"fails":                "a cable is loose",
		"never comes":          "did not end on rank",
	} {
		t.Run(how, func(t *testing.T) {
			deadline := longTime
			if how == "never comes" || how == "does not stop" {
				deadline = 300 * time.Millisecond
			}
			all := fakeGroup(t, deadline, "emulator", how)
			buffers := onAll(t, all)
			for rank, err := range each(all, func(c collective.Communicator) error {
				b := buffers[c.Rank()]
				return c.AllReduce(b, b, collective.Sum)
			}) {
				t.Logf("rank %d: %v", rank, err)
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("rank %d: %v, expected one line with %q", rank, err, want)
				}
			}
			for rank, err := range each(all, func(c collective.Communicator) error { return c.Broadcast(buffers[c.Rank()], 0) }) {
				if err == nil {
					t.Errorf("rank %d: the group goes on", rank)
				}
			}
			if how == "does not stop" {
				err := buffers[1].Download(make([]float32, 1))
				says(t, "the buffer", err, "lost with its worker", "NCCL did not stop within 3s", "the worker was killed")
			}
		})
	}
	t.Run("hangs in joining", func(t *testing.T) {
		t.Setenv(fakeNCCLVariable, t.TempDir())
		t.Setenv(NCCLVariable, "/fake/libnccl.so.2")
		d, err := openFake(t, "hangs")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		other, err := openNumber(t, "does not join", 1)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		all, err := collective.New(longTime, d, other)
		if err != nil {
			t.Fatal(err)
		}
		says(t, "hangs", errors.New(all[0].Transport()), "unhandled system error")
		l, err := d.worker()
		if err != nil || l.process.Process.Pid == 0 {
			t.Errorf("no fresh worker: %v", err)
		}
	})
}

// Interrupt ends a collective that waits for another rank, and loses no buffer.
func TestInterruptedCollective(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		buffers := onAll(t, all)
		ended := make(chan []error, 1)
		go func() {
			ended <- each(all, func(c collective.Communicator) error {
				for {
					b := buffers[c.Rank()]
					if _, err := c.Time(gpu.Timing{Repeats: 1000}, collective.Call{Kind: collective.AllReduce, In: b, Out: b, Op: collective.Max}); err != nil {
						return err
					}
				}
			})
		}()
		time.Sleep(100 * time.Millisecond)
		all[0].Device().Interrupt()
		for rank, err := range <-ended {
			t.Logf("rank %d: %v", rank, err)
			if !errors.Is(err, gpu.ErrInterrupted) || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected an interrupt", rank, err)
			}
		}
		for rank, b := range buffers {
			if err := b.Download(make([]float32, 1)); err != nil {
				t.Errorf("rank %d: the buffer: %v", rank, err)
			}
		}
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}
