//go:build linux

package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write writes the executable, and NVIDIA's runtime beside it, where the executable looks for it
// first: both can be copied to a machine with a GPU, which needs nothing else of CUDA than a
// driver.
func (p *Program) Write(path string) error {
	library, err := NVIDIA()
	if err == nil && !p.nvidia {
		err = errors.New("it was built for the emulator")
	}
	if err != nil {
		return fmt.Errorf("program: %s: %w", p.Name, err)
	}
	data, err := os.ReadFile(p.path)
	if err == nil {
		code, _, _ := split(data) // open has done it before
		err = writeProgram(path, code)
	}
	if err == nil {
		if data, err = os.ReadFile(library); err == nil {
			err = writeProgram(filepath.Join(filepath.Dir(path), runtimeName), data)
		}
	}
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	return nil
}

// writeProgram writes a fresh file, which takes the place of one that may be running.
func writeProgram(to string, data []byte) error {
	fresh, err := os.CreateTemp(filepath.Dir(to), ".warpbook")
	if err != nil {
		return err
	}
	defer os.Remove(fresh.Name())
	_, err = fresh.Write(data)
	if err := errors.Join(err, fresh.Chmod(0o755), fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), to)
}

// runNVIDIA runs a program that is linked with NVIDIA's runtime. The process has the GPU for
// itself: nothing stands between it and the driver.
func (p *Program) runNVIDIA(ctx context.Context, set Settings, io Streams) error {
	if refused := set.Refused(false, false); refused != "" {
		return fmt.Errorf("program: %s: %s on the emulator only, and the program runs on a GPU", p.Name, refused)
	}
	fmt.Fprintf(io.Err, "warpbook: %s runs on cuda:%d%s, with NVIDIA's runtime\n", p.Name, set.Number, model(set.Number))
	process, err := p.launch(set.Args, io, nil, visible(set.Number))
	if err != nil {
		return err
	}
	process.watch(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return p.result(process.err, nil, &reporter{out: io.Err, program: p, said: map[string]bool{}})
}

// visible are the variables that make a GPU the only one of a program. One that the user has
// chosen GPUs by is a list, of which the number is a place.
func visible(number int) []string {
	id := strconv.Itoa(number)
	if list := strings.Split(os.Getenv("CUDA_VISIBLE_DEVICES"), ","); list[0] != "" {
		id = "-1" // none
		if number < len(list) {
			id = list[number]
		}
	}
	env := []string{"CUDA_VISIBLE_DEVICES=" + id}
	if os.Getenv("CUDA_DEVICE_ORDER") == "" {
		env = append(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
	}
	return env
}

// model is the name of a GPU in parentheses, as the driver lists it; "" if that is not known.
func model(number int) string {
	files, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information") // in the order of the bus
	if os.Getenv("CUDA_VISIBLE_DEVICES") != "" || os.Getenv("CUDA_DEVICE_ORDER") != "" || number >= len(files) {
		return ""
	}
	text, err := os.ReadFile(files[number])
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), "Model:")
	name, _, _ := strings.Cut(rest, "\n")
	if name = strings.TrimSpace(name); name != "" {
		name = " (" + name + ")"
	}
	return name
}
