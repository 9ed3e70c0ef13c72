// Command nvrtc compiles CUDA C++ to PTX with NVIDIA's runtime compiler, which
// needs neither a GPU nor a CUDA toolkit: four pip wheels are enough.
//
// It is a program of its own so that a crash or a hang of the compiler ends no other
// program, and because it opens libnvrtc at run time, which would make every program
// that links it dynamic. It writes PTX files beside their sources, or into its reply
// with -json. go:generate lines of operators and package gpu/compile/compiler run it.
// It loads no PTX, and imports no operator and no device.
//
// Usage:
//
//	go run ./gpu/nvrtc [-arch sm_75] [-release 12.0] [-nvrtc DIR] [-plain] FILE.cu ...
//	go run ./gpu/nvrtc -print FILE.ptx.zst ...
//
// FILE.cu becomes FILE.sm_75.ptx.zst, which is compressed, or with -plain FILE.sm_75.ptx. With
// -print it prints the PTX of such files. With -json it reads one source from package
// gpu/compile, for a cell of a notebook, and writes no file. It searches for the library
// and its headers in DIR, $WARPBOOK_NVRTC, $CUDA_HOME, $CUDA_PATH, the usual places of a
// toolkit, the site-packages of Python, and last the loader's own places.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"warpbook/gpu/ptxfile"
	"warpbook/kernel/leaf/atomicfile"
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
	plain := flags.Bool("plain", false, "do not compress the PTX")
	show := flags.Bool("print", false, "print the PTX of compressed files")
	request := flags.Bool("json", false, "compile the one request on standard input (gpu/compile) and write no file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *request {
		return serve(os.Stdin, os.Stdout, *dir)
	}
	if *show {
		return printPTX(os.Stdout, flags.Args())
	}
	if flags.NArg() == 0 {
		return errors.New("nvrtc: no source, expected one or more files: nvrtc [-arch sm_75] [-release 12.0] [-nvrtc DIR] FILE.cu")
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
		if err := generate(lib, command, "compute_"+number, *arch, source, *plain); err != nil {
			return err
		}
	}
	return nil
}

// printPTX prints the PTX of files, whose names may end in that of the compression.
func printPTX(to io.Writer, names []string) error {
	for _, name := range names {
		text, err := ptxfile.ReadFile(strings.TrimSuffix(name, ptxfile.Extension))
		if err != nil {
			return fmt.Errorf("nvrtc: %w", err)
		}
		if _, err := io.WriteString(to, text); err != nil {
			return fmt.Errorf("nvrtc: print %s: %w", name, err)
		}
	}
	return nil
}

// commandLine is the command that a generated file names: the options that affect its
// contents, without this machine's folders.
func commandLine(arch, release string) string {
	line := "go run ./gpu/nvrtc -arch " + arch
	if release != "" {
		line += " -release " + release
	}
	return line
}

// generate compiles one source and writes the PTX beside it.
func generate(lib *library, command, compute, arch, source string, plain bool) error {
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
	target, text := strings.TrimSuffix(source, ".cu")+"."+arch+".ptx", header+stripFolders(ptx)
	if plain {
		return writeFile(target, text)
	}
	if err := ptxfile.Write(target, text); err != nil {
		return fmt.Errorf("nvrtc: %w", err)
	}
	return nil
}

// writeFile replaces the whole file or leaves it as it was.
func writeFile(name, text string) error {
	err := atomicfile.Write(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("nvrtc: %w", err)
	}
	return nil
}
