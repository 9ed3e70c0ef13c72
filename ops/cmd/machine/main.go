// The machine command records facts about the machine code that NVIDIA's assembler makes
// of the committed PTX for sm_90: the number of loads and stores of each width, those of
// local memory, the registers of a thread, and the instructions of the loop that
// multiplies. It writes machine.json into the operator's folder. Tables of counters use it
// to explain where the profiler's requests differ from the emulator's, and notebooks show
// registers and loops. Run it from the project's root, with a
// CUDA toolkit, after the PTX has changed:
//
//	go run ./ops/cmd/machine -cuda /usr/local/cuda
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"warpbook/gpu/ptxfile"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/ops/ladder"
	"warpbook/ops/ladder/loop"
)

const target = "sm_90"

func main() {
	cuda := flag.String("cuda", "/usr/local/cuda", "CUDA toolkit, with bin/ptxas and bin/cuobjdump")
	disassembler := flag.String("cuobjdump", "", "cuobjdump, where it is elsewhere")
	flag.Parse()
	if *disassembler == "" {
		*disassembler = filepath.Join(*cuda, "bin", "cuobjdump")
	}
	if err := run(filepath.Join(*cuda, "bin", "ptxas"), *disassembler); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ptxas, cuobjdump string) error {
	files, err := ptxfile.Glob(os.DirFS("."), "ops/*/*.ptx")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("machine: ops/*/*.ptx: no PTX, expected to run in the project's root")
	}
	version, err := exec.Command(ptxas, "--version").Output()
	if err != nil {
		return fmt.Errorf("machine: %s: %w: name a CUDA toolkit with -cuda", ptxas, err)
	}
	folders := map[string]ladder.MachineCode{}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), "notes.md")); err != nil {
			continue // no operator: it has no table of counters
		}
		text, err := ptxfile.ReadFile(file)
		if err != nil {
			return fmt.Errorf("machine: %w", err)
		}
		entries, err := assemble(ptxas, cuobjdump, file, text)
		if err != nil {
			return err
		}
		for name, e := range entries {
			e.Code = ladder.EntryHash(text, name)
			entries[name] = e
		}
		folder := filepath.Dir(file)
		if folders[folder].Entries == nil {
			folders[folder] = ladder.MachineCode{Assembler: "ptxas " + release.FindString(string(version)), Target: target, Entries: map[string]map[string]ladder.MachineEntry{}}
		}
		folders[folder].Entries[filepath.Base(file)] = entries
	}
	for folder, code := range folders {
		err := atomicfile.Write(filepath.Join(folder, "machine.json"), func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", " ")
			return e.Encode(code)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	release   = regexp.MustCompile(`V[\d.]+`)
	function  = regexp.MustCompile(`^\s*Function : (\w+)`)
	access    = regexp.MustCompile(`^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(LD[GSL]|ST[GSL]|LDGSTS)(\.[A-Z0-9.]+)?\s`)
	compiling = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	spills    = regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
)

// assemble describes the machine code of each entry.
func assemble(ptxas, cuobjdump, file, text string) (map[string]ladder.MachineEntry, error) {
	dir, err := os.MkdirTemp("", "machine")
	if err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	defer os.RemoveAll(dir)
	cubin, plain := filepath.Join(dir, "x.cubin"), filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(plain, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	arch := target
	if strings.HasSuffix(file, "."+target+"a.ptx") {
		arch += "a" // for this very GPU alone
	}
	said, err := exec.Command(ptxas, "-v", "-arch", arch, plain, "-o", cubin).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("machine: assemble %s: %w: %s", file, err, said)
	}
	sass, err := exec.Command(cuobjdump, "-sass", cubin).Output()
	if err != nil {
		return nil, fmt.Errorf("machine: disassemble %s: %w", file, err)
	}
	entries := map[string]ladder.MachineEntry{}
	for name, lines := range functions(string(sass)) {
		e := ladder.MachineEntry{Accesses: accesses(lines)}
		if l := loop.Of(loop.SASS(lines)); l.FMA > 0 {
			e.Loop = &l
		}
		entries[name] = e
	}
	return entries, resources(string(said), entries)
}

// functions are the lines of each entry.
func functions(sass string) map[string][]string {
	all := map[string][]string{}
	var name string
	for line := range strings.Lines(sass) {
		if m := function.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		all[name] = append(all[name], line)
	}
	delete(all, "") // lines before the first
	return all
}

// accesses are counted by opcode and width: "LDS", "LDS.128".
func accesses(lines []string) map[string]int {
	counts := map[string]int{}
	for _, line := range lines {
		m := access.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		opcode := m[1]
		for _, width := range []string{".64", ".128"} {
			if strings.HasSuffix(m[2], width) || strings.Contains(m[2], width+".") {
				opcode += width
			}
		}
		counts[opcode]++
	}
	return counts
}

// resources adds the assembler's report on each entry.
func resources(said string, entries map[string]ladder.MachineEntry) error {
	var name string
	for line := range strings.Lines(said) {
		if m := compiling.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		e, known := entries[name]
		if m := spills.FindStringSubmatch(line); m != nil {
			e.SpillBytes = number(m[1]) + number(m[2])
		}
		if m := registers.FindStringSubmatch(line); m != nil {
			e.Registers = number(m[1])
		}
		if known {
			entries[name] = e
		}
	}
	for name, e := range entries {
		if e.Registers == 0 {
			return fmt.Errorf("machine: %s: ptxas names no registers of it", name)
		}
	}
	return nil
}

// number reads digits that a regular expression has found.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
