package device

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

func TestNames(t *testing.T) {
	d, err := Open("emu:rtx4060")
	if err != nil {
		t.Fatal(err)
	}
	if i := d.Info(); !strings.Contains(i.Name, "4060") || !i.Emulated {
		t.Errorf("emu:rtx4060 is %v", i)
	}
	t.Setenv(Variable, "emu:t4")
	if i := MustOpen("").Info(); !strings.Contains(i.Name, "T4") {
		t.Errorf("%s=emu:t4 opens %v", Variable, i)
	}
	for _, name := range []string{"emo", "emu:gtx1", "emu:", ":", "cuda:x"} {
		_, err := Open(name)
		if name == "emu:" {
			if err != nil {
				t.Errorf("%q: %v, expected the default emulator", name, err)
			}
			continue
		}
		if !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "emu:h200") {
			t.Errorf("%q: %v, expected the names that there are", name, err)
		}
	}
}

func TestInterruptAll(t *testing.T) {
	d := MustOpen("emu")
	m, err := d.Load("endless.ptx", ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry endless()\n{\n.reg .b64 %rd<1>;\n.reg .pred %p<1>;\nmov.u64 %rd0, 0;\nagain: add.u64 %rd0, %rd0, 1;\nsetp.ne.u64 %p0, %rd0, 0;\n@%p0 bra again;\nret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("endless")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32}}) }()
	for { // an interrupt that comes before the launch ends nothing
		InterruptAll()
		select {
		case err := <-done:
			if !errors.Is(err, gpu.ErrInterrupted) {
				t.Errorf("%v, expected an interrupted launch", err)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
