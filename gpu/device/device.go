// Package device opens a gpu.Device by name. It is the only package that imports
// every kind of device; notebooks and commands call Open or MustOpen. Devices and
// operators must never import it.
package device

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"weak"

	"warpbook/gpu"
	"warpbook/gpu/cuda"
	"warpbook/gpu/emu"
)

// Variable is the environment variable that names the device to open when a
// program does not.
const Variable = "WARPBOOK_DEVICE"

// ReplayVariable is the environment variable that switches replay off with
// "off". Replay copies the memory of a launch on a GPU before it runs, so that
// the emulator can find the exact cause of a fault; a launch with gpu.CheckNone
// is not copied either.
const ReplayVariable = "WARPBOOK_REPLAY"

// Open opens a device: "emu" is the emulator of an H200, "emu:rtx4060" that of
// another GPU; "cuda" is the first GPU of this machine, "cuda:1" the second. ""
// is the device that WARPBOOK_DEVICE names, else the best one there is: the
// GPU, or the emulator where there is none or its worker was not built.
func Open(name string) (gpu.Device, error) {
	if name == "" {
		name = os.Getenv(Variable)
	}
	if name == "" {
		if cuda.Present() && cuda.WorkerBuilt() {
			return openCUDA("cuda", "")
		}
		name = "emu"
	}
	switch kind, which, _ := strings.Cut(name, ":"); kind {
	case "emu":
		return openEmulator(name, which)
	case "cuda":
		return openCUDA(name, which)
	}
	return nil, unknown(name)
}

func unknown(name string) error {
	return fmt.Errorf("device: open %q: %w, expected one of %s", name, gpu.ErrNotFound, strings.Join(Names(), ", "))
}

func openEmulator(name, profile string) (gpu.Device, error) {
	d, err := emu.Open(profile)
	if err != nil {
		return nil, unknown(name)
	}
	remember(d.(*emu.Device))
	return d, nil
}

func openCUDA(name, which string) (gpu.Device, error) {
	number := 0
	if which != "" {
		n, err := strconv.Atoi(which)
		if err != nil || n < 0 {
			return nil, unknown(name)
		}
		number = n
	}
	config := cuda.Config{Number: number, Notice: tell}
	if os.Getenv(ReplayVariable) != "off" {
		config.Emulator = emu.OpenAs
	}
	d, err := cuda.Open(config)
	if err != nil {
		return nil, fmt.Errorf("device: open %q: %w", name, err)
	}
	remember(d)
	return d, nil
}

// tell prints a message for the user while a call takes long.
func tell(line string) { fmt.Fprintln(os.Stderr, line) }

// MustOpen is Open for notebooks, where an error ends the cell.
func MustOpen(name string) gpu.Device {
	d, err := Open(name)
	if err != nil {
		panic(err)
	}
	return d
}

// Names lists the names that Open accepts: the emulators, and the GPUs of this machine.
func Names() []string {
	names := []string{"emu"}
	for _, p := range emu.Profiles() {
		names = append(names, "emu:"+p)
	}
	names = append(names, "cuda")
	for i := range cuda.Count() {
		names = append(names, "cuda:"+strconv.Itoa(i))
	}
	return names
}

// interruptible is a device as InterruptAll sees it.
type interruptible interface{ Interrupt() }

// open are the devices that Open returned and that are still in use.
var open struct {
	mu      sync.Mutex
	devices []func() interruptible // nil once nothing else refers to the device; guarded by mu
}

func remember[D any, P interface {
	*D
	interruptible
}](d P) {
	open.mu.Lock()
	defer open.mu.Unlock()
	p := weak.Make((*D)(d))
	open.devices = append(inUse(), func() interruptible {
		if d := p.Value(); d != nil {
			return P(d)
		}
		return nil
	})
}

// Opened lists the devices that Open returned and that are still in use.
func Opened() []gpu.Device {
	open.mu.Lock()
	defer open.mu.Unlock()
	var list []gpu.Device
	for _, device := range open.devices {
		if d, ok := device().(gpu.Device); ok {
			list = append(list, d)
		}
	}
	return list
}

// inUse drops the devices that nothing refers to any more; open.mu is held.
func inUse() []func() interruptible {
	var live []func() interruptible
	for _, device := range open.devices {
		if device() != nil {
			live = append(live, device)
		}
	}
	return live
}

// Ending reports whether an open device is still ending what InterruptAll has
// interrupted: calls that wait for it will return.
func Ending() bool {
	open.mu.Lock()
	defer open.mu.Unlock()
	for _, device := range open.devices {
		if d, ok := device().(interface{ Ending() bool }); ok && d.Ending() {
			return true
		}
	}
	return false
}

// InterruptAll ends the running work of all open devices, as when a notebook is
// interrupted.
func InterruptAll() {
	open.mu.Lock()
	defer open.mu.Unlock()
	for _, device := range open.devices {
		if d := device(); d != nil {
			d.Interrupt()
		}
	}
}
