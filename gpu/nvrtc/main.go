// Command nvrtc compiles CUDA C++ to PTX with NVIDIA's runtime compiler, which
// needs neither a GPU nor a CUDA toolkit: three pip wheels are enough.
//
// It is a program of its own so that a compiler that crashes or hangs takes
// nothing with it, and because it opens libnvrtc at run time, which would make
// every program that links it dynamic. It writes PTX files beside their
// sources, or answers with it, and does nothing else: it loads no PTX and knows
// no operator.
//
// Usage:
//
//	go run ./gpu/nvrtc [-arch sm_75] [-release 12.0] [-nvrtc DIR] FILE.cu ...
//
// FILE.cu becomes FILE.sm_75.ptx. With -json it compiles one source that
// package gpu/compile sends it, for a cell of a notebook, and writes no file. The library and its headers are looked for
// in DIR, $WARPBOOK_NVRTC, $CUDA_HOME, $CUDA_PATH, the usual places of a
// toolkit, the site-packages of Python, and last where the loader looks.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	err := run(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("nvrtc", flag.ContinueOnError)
	arch := flags.String("arch", "sm_75", "lowest compute capability that the PTX runs on")
	release := flags.String("release", "", "release that libnvrtc must have, such as 12.0 (default any)")
	dir := flags.String("nvrtc", "", "folder of a CUDA toolkit or of pip install --target, or the library itself")
	request := flags.Bool("json", false, "compile the one request on standard input (gpu/compile) and write no file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *request {
		return serve(os.Stdin, os.Stdout, *dir)
	}
	if flags.NArg() == 0 {
		return errors.New("nvrtc: no source: usage: nvrtc [-arch sm_75] [-release 12.0] [-nvrtc DIR] FILE.cu ...")
	}
	number, ok := strings.CutPrefix(*arch, "sm_")
	if !ok {
		return fmt.Errorf("nvrtc: -arch %s: not a compute capability, expected the form sm_75", *arch)
	}
	lib, err := open(folders(*dir), *release)
	if err != nil {
		return err
	}
	command := commandLine(*arch, *release)
	for _, source := range flags.Args() {
		if err := generate(lib, command, "compute_"+number, *arch, source); err != nil {
			return err
		}
	}
	return nil
}

// commandLine is the command that a generated file names: what decides its
// contents, without this machine's folders.
func commandLine(arch, release string) string {
	line := "go run ./gpu/nvrtc -arch " + arch
	if release != "" {
		line += " -release " + release
	}
	return line
}

// generate compiles one source and writes the PTX beside it.
func generate(lib *library, command, compute, arch, source string) error {
	sources, err := readSources(source)
	if err != nil {
		return err
	}
	flags := []string{"--gpu-architecture=" + compute, "--std=c++17", "--generate-line-info"}
	name := filepath.Base(source)
	ptx, err := lib.compile(name, sources[0].text, append(flags, lib.includes(filepath.Dir(source))...))
	if err != nil {
		return err
	}
	header := header(command, lib.release, flags, sources)
	return writeFile(strings.TrimSuffix(source, ".cu")+"."+arch+".ptx", header+stripFolders(ptx))
}

// writeFile replaces a file as a whole or not at all.
func writeFile(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".nvrtc-*")
	if err != nil {
		return fmt.Errorf("nvrtc: write %s: %w", name, err)
	}
	defer os.Remove(f.Name()) // is gone after the rename
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("nvrtc: write %s: %w", name, err)
	}
	return nil
}
