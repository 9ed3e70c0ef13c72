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
	beside := filepath.Join(filepath.Dir(path), runtimeName)
	if filepath.Base(path) == runtimeName {
		return fmt.Errorf("program: %s: NVIDIA's runtime is written beside the executable by this name, expected another one", path)
	}
	if !sameFile(library, beside) {
		err = copyProgram(beside, library)
	}
	if err == nil {
		var data []byte
		if data, err = os.ReadFile(p.path); err == nil {
			code, _, _ := split(data) // open has done it before
			err = writeProgram(path, code)
		}
	}
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	return nil
}

func sameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func copyProgram(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeProgram(to, data)
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
	return []string{"CUDA_VISIBLE_DEVICES=" + id}
}

// model is the name of a GPU in parentheses, as the driver lists it; "" if that is not known, as
// where GPUs differ: the driver numbers them by their speed, and lists them by their places.
func model(number int) string {
	files, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if os.Getenv("CUDA_VISIBLE_DEVICES") != "" || number >= len(files) {
		return ""
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		names = append(names, string(text))
	}
	return modelOf(names)
}

// modelOf is the model that all descriptions of GPUs have.
func modelOf(descriptions []string) string {
	model := ""
	for _, text := range descriptions {
		_, rest, _ := strings.Cut(text, "Model:")
		name, _, _ := strings.Cut(rest, "\n")
		if name = strings.TrimSpace(name); name == "" || model != "" && name != model {
			return ""
		}
		model = name
	}
	return " (" + model + ")"
}
