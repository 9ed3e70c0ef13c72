//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/cuda"
	"warpbook/gpu/program"
	"warpbook/kernel/cellbuild"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/buildcache"
)

// doctorCommand shows the state of the installation. Without --fix it changes nothing.
func doctorCommand(args []string) error {
	f := newFlags("doctor")
	fix := f.Bool("fix", false, "build the library of C++ for CUDA programs now, which takes minutes once, and not at the first of them")
	if _, err := parse(f, args, 0); err != nil {
		return err
	}
	if *fix {
		if err := program.Prepare(context.Background(), os.Stderr); err != nil && !errors.Is(err, program.ErrUnavailable) {
			return err
		}
	}
	own := cellbuild.Name()
	at, err := cellbuild.Locate(context.Background())
	findings := []finding{{ok, "warpbook", strings.TrimPrefix(versionLine(), "warpbook ")}}
	findings = append(findings, cellsFindings(own, at, err)...)
	findings = append(findings, deviceFinding(), gpuFinding(cuda.Present(), workerWhole(), "/proc/driver/nvidia/version"))
	findings = append(findings, cudaFindings(compiler.Path())...)
	findings = append(findings, programFinding(), jupyterFinding())
	findings = append(findings, kernelFindings(own, kernelspec.Places())...)
	for _, f := range findings {
		fmt.Printf("%-8s %-14s %s\n", f.state, f.what, f.text)
	}
	return nil
}

func cellsFindings(own string, at cellbuild.Location, err error) []finding {
	switch {
	case err != nil:
		return []finding{{missing, "cells program", err.Error()}}
	case at.Root == "":
		by := "installed with this program"
		if os.Getenv(cellbuild.Env) != "" {
			by = "named by " + cellbuild.Env
		}
		return []finding{givenCells(at.Path, by, own)}
	}
	cells := finding{missing, "cells program", "not built yet: the first run builds it (about 2 minutes on 2 cores) as " + at.Path}
	switch info, err := os.Stat(at.Path); {
	case err != nil:
	case buildcache.VerifyWhole(at.Path) != nil:
		cells.text = buildcache.VerifyWhole(at.Path).Error() + ": the next run builds it again"
	default:
		cells = finding{ok, "cells program", fmt.Sprintf("%s (%d MB, last used %s)", at.Path, info.Size()>>20, buildcache.LastUse(at.Path).Format(time.DateTime))}
	}
	return []finding{
		{ok, "Go", at.Go},
		{ok, "source", at.Root},
		cells,
		{ok, "cache", fmt.Sprintf("%s (%d MB, may be deleted)", filepath.Dir(at.Path), folderBytes(filepath.Dir(at.Path))>>20)},
	}
}

// folderBytes adds up the files of a folder, not of those inside it.
func folderBytes(dir string) int64 {
	entries, _ := os.ReadDir(dir) // without the folder: nothing was built yet
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

func deviceFinding() finding {
	name := os.Getenv(deviceEnv)
	if name == "" {
		name = "the GPU where there is one, else the emulator (choose with --device or " + deviceEnv + ")"
	} else {
		name += " (named by " + deviceEnv + ")"
	}
	return finding{ok, "device", name}
}

// workerWhole reports whether the CUDA worker exists and is undamaged.
func workerWhole() bool {
	path, err := cuda.WorkerPath()
	return err == nil && buildcache.VerifyWhole(path) == nil
}

// gpuFinding reports whether notebooks can use a GPU; version is the file that names
// the driver's version.
func gpuFinding(present, built bool, version string) finding {
	if !present {
		return finding{note, "GPU", "no NVIDIA GPU and driver found: notebooks run on the emulator"}
	}
	if !built {
		return finding{missing, "GPU", cuda.Remedy}
	}
	text := "found, and its worker is built"
	if data, err := os.ReadFile(version); err == nil {
		line, _, _ := strings.Cut(string(data), "\n")
		text += " (" + strings.Join(strings.Fields(line), " ") + ")"
	}
	return finding{ok, "GPU", text}
}

// cudaFindings report the compilers of %%cuda cells: path is the program that looks for
// NVRTC, or the place where that program will be built.
func cudaFindings(path, _ string, err error) []finding {
	nvrtc := nvrtcFinding(path, err)
	c, err := clang.Find(context.Background())
	switch {
	case err == nil:
		return []finding{nvrtc, {ok, "%%cuda", c.Name + " in " + c.Path}}
	case nvrtc.state == ok:
		return []finding{nvrtc}
	}
	return []finding{nvrtc, {note, "%%cuda", compile.Remedy(context.Background()) + offline}}
}

// offline is how a machine without a network gets a compiler.
const offline = "; without a network, run `pip download -d WHEELS ziglang==" + clang.Version + "` where there is one, and `pip install --no-index --find-links WHEELS ziglang` here"

// programFinding reports whether whole CUDA programs run.
func programFinding() finding {
	built, err := program.Prepared(context.Background())
	if err == nil && cuda.Present() {
		_, err = program.NVIDIA() // for --device cuda:0
	}
	switch {
	case err != nil:
		return finding{note, "CUDA programs", strings.TrimPrefix(err.Error(), "program: ")}
	case !built:
		return finding{note, "CUDA programs", "the first one that needs the library of C++ builds it, which takes minutes: warpbook doctor --fix builds it now"}
	}
	return finding{ok, "CUDA programs", "the library of C++ is built"}
}

func nvrtcFinding(path string, err error) finding {
	if err != nil {
		return finding{note, "%%cuda", err.Error()}
	}
	switch err := buildcache.VerifyWhole(path); {
	case errors.Is(err, buildcache.ErrDamaged):
		return finding{missing, "%%cuda", err.Error() + ": the next such cell builds it again"}
	case err != nil:
		return finding{note, "%%cuda", "NVRTC is not tried yet: the first such cell looks for it"}
	}
	reply, err := compiler.Run(context.Background(), compiler.Request{Name: "doctor.cu", Text: "__global__ void k() {}"})
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	if err != nil {
		return finding{note, "%%cuda", err.Error()}
	}
	return finding{ok, "%%cuda", "NVRTC " + reply.Release}
}

func jupyterFinding() finding {
	path, err := exec.LookPath("jupyter")
	if err != nil {
		return finding{note, "Jupyter", "not found in PATH: warpbook run needs none; get it with: python3 -m pip install jupyterlab"}
	}
	return finding{ok, "Jupyter", path}
}

// kernelFindings looks at every place where Jupyter may find our kernel; own is the name of
// this command's build.
func kernelFindings(own string, places []kernelspec.Place) []finding {
	var findings []finding
	for _, place := range places {
		spec, err := kernelspec.Read(place.Spec)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = spec.Check()
		}
		if err != nil {
			findings = append(findings, finding{missing, "kernel", place.Spec + ": " + err.Error() + ": install it again with: " + again(spec)})
		} else {
			findings = append(findings, kernelFinding(place.Spec, spec, own))
		}
	}
	if findings == nil {
		findings = []finding{{note, "kernel", "not installed in Jupyter: go run ./install does so"}}
	}
	return findings
}
