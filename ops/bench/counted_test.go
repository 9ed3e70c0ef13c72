package bench

import (
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
)

// launchCounter is a device that counts launches.
type launchCounter struct {
	gpu.Device
	launched int
}

func (d *launchCounter) Launch(l gpu.Launch) error {
	d.launched++
	return d.Device.Launch(l)
}

// Counted returns the counters of the last count, and those of other inputs only
// after they were counted.
func TestCounted(t *testing.T) {
	emulator, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	defer emulator.Close()
	d := &launchCounter{Device: emulator}
	b := Must(d, sample.Operator, 1, 1000)
	defer b.Close()
	counts, err := b.Count("sum_blocks")
	if err != nil {
		t.Fatal(err)
	}
	first := b.Counted("sum_blocks")
	if *first != counts.Rows[0].Total || b.Counted("sum_blocks") != first {
		t.Errorf("%+v, expected the counters of Count, once", *first)
	}
	launched := d.launched
	if again, err := b.Compare("sum_blocks"); err != nil || again.Counts.Rows[0].Total != *first {
		t.Errorf("%+v, %v, expected the counters of Count", again, err)
	}
	if d.launched != launched {
		t.Errorf("%d launches for counters that are known, expected none", d.launched-launched)
	}
	if serial := b.Counted("sum_serial"); serial.GlobalLoad.Requests != 1000 {
		t.Errorf("%d loads of one thread, expected 1000", serial.GlobalLoad.Requests)
	}
	if err := b.SetInput("x", make([]float32, 1000)); err != nil {
		t.Fatal(err)
	}
	if again := b.Counted("sum_blocks"); again == first {
		t.Error("counters of other inputs")
	}
	again := b.Counted("sum_blocks")
	if err := b.Place("x", 1); err != nil {
		t.Fatal(err)
	}
	if placed := b.Counted("sum_blocks"); placed == again || placed.GlobalLoad.Sectors <= again.GlobalLoad.Sectors {
		t.Errorf("%d sectors from element 1 on, %d before: expected more", placed.GlobalLoad.Sectors, again.GlobalLoad.Sectors)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for an unknown variant")
		}
	}()
	b.Counted("sum_v9")
}
