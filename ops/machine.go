package ops

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/lazyregexp"
	"warpbook/ops/loop"
)

// MachineCode is what NVIDIA's assembler made of the committed PTX, as far as
// counters of memory and the speed of a loop depend on it.
type MachineCode struct {
	Assembler string
	Target    string
	Entries   map[string]map[string]MachineEntry // by file and name
}

// MachineEntry counts the accesses in the machine code of an entry by opcode
// and width, such as "LDS.128", and the registers of a thread; SpillBytes are
// what it stores and loads for want of more. Code is EntryHash of its PTX.
type MachineEntry struct {
	Code       string
	Registers  int
	SpillBytes int
	Accesses   map[string]int
	Loop       *loop.Loop `json:",omitempty"` // nil where no loop multiplies
}

//go:embed machine.json
var machineJSON []byte

// machineNotes say in what the accesses of a variant's entries to memory differ
// in the machine code, which is what a profiler counts.
func (r *run) machineNotes() ([]string, error) {
	if r.variant.Own != nil {
		return nil, nil
	}
	source := r.source()
	files, err := ptxFiles(source)
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	file, err := pick(source, files, r.bench.device.Info())
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	var m MachineCode
	if err := json.Unmarshal(machineJSON, &m); err != nil {
		return nil, fmt.Errorf("ops: machine.json: %w", err)
	}
	return m.notes(file, entriesOf(r.launches)), nil
}

func (m MachineCode) notes(file ptxFile, entries []string) (notes []string) {
	by := fmt.Sprintf(" (machine code of %s for %s).", m.Assembler, m.Target)
	for _, name := range entries {
		code := EntryHash(file.text, name)
		if code == "" {
			continue // an entry of another module
		}
		e, ok := m.Entries[file.name][name]
		if !ok || e.Code != code {
			notes = append(notes, name+": not compared with its machine code: run `go run ./ops/machine`.")
			continue
		}
		for _, difference := range e.differences(accessesOf(file.text, name)) {
			notes = append(notes, name+": "+difference+by)
		}
	}
	return notes
}

// differences compares accesses of machine code with those of PTX. How many
// there are says little, since the assembler unrolls loops; that there are
// wider ones, or some of local memory, says that accesses were joined or
// registers spilled.
func (e MachineEntry) differences(ptx map[string]int) (all []string) {
	for _, c := range []struct{ opcode, what, effect string }{
		{"LDS", "neighbouring loads from shared memory", "fewer requests and wavefronts"},
		{"STS", "neighbouring stores to shared memory", "fewer requests and wavefronts"},
		{"LDG", "neighbouring loads from global memory", "fewer requests"},
		{"STG", "neighbouring stores to global memory", "fewer requests"},
	} {
		var wider []string
		for _, width := range []string{".64", ".128"} {
			if e.Accesses[c.opcode+width] > 0 && ptx[c.opcode+width] == 0 {
				wider = append(wider, fmt.Sprintf("%d %s", e.Accesses[c.opcode+width], c.opcode+width))
			}
		}
		if len(wider) > 0 {
			all = append(all, fmt.Sprintf("%s are joined into %s: a profiler counts %s than PTX asks for",
				c.what, strings.Join(wider, " and "), c.effect))
		}
	}
	local := func(counts map[string]int) (n int) {
		for _, opcode := range []string{"LDL", "STL"} {
			n += counts[opcode] + counts[opcode+".64"] + counts[opcode+".128"]
		}
		return n
	}
	if n := local(e.Accesses); n > 0 && local(ptx) == 0 {
		all = append(all, fmt.Sprintf("registers are spilled by %d accesses to local memory that PTX does not have", n))
	}
	return all
}

var (
	ptxAccess = lazyregexp.New(`(?m)^\s*(?:@!?%p\d+ )?(ld|st)\.(?:volatile\.|relaxed\.\w+\.|weak\.)?(shared|global|local)(?:\.[\w:]+)*?(?:\.v([24]))?\.([bsuf])(\d+)\s`)
	placeLine = lazyregexp.New(`(?m)^\s*(?:\.loc\s.*|//.*)?\n`)
	ptxLabel  = lazyregexp.New(`\$L__BB\d+_`)
)

// accessesOf counts the accesses of an entry's PTX by the opcodes that the
// machine has for them.
func accessesOf(text, entry string) map[string]int {
	counts := map[string]int{}
	for _, m := range ptxAccess().FindAllStringSubmatch(entryBody(text, entry), -1) {
		opcode := map[string]string{"ld": "LD", "st": "ST"}[m[1]] + map[string]string{"shared": "S", "global": "G", "local": "L"}[m[2]]
		bits := number(m[5])
		if m[3] != "" {
			bits *= number(m[3])
		}
		if bits > 32 {
			opcode += fmt.Sprintf(".%d", bits)
		}
		counts[opcode]++
	}
	return counts
}

// entryBody is the PTX of an entry from its parameters on, "" if there is none.
func entryBody(text, entry string) string {
	_, rest, found := strings.Cut(text, ".entry "+entry+"(")
	body, _, ended := strings.Cut(rest, "\n}\n")
	if !found || !ended {
		return ""
	}
	return body + "\n"
}

// EntryHash is a hash of an entry's PTX that depends neither on lines of the
// source nor on other entries; "" if there is no such entry.
func EntryHash(text, entry string) string {
	body := entryBody(text, entry)
	if body == "" {
		return ""
	}
	body = ptxLabel().ReplaceAllString(placeLine().ReplaceAllString(body, ""), "$$L__BB_")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(body)))[:16]
}

// entriesOf are the entries that rows of counters launched.
func entriesOf(launches []gpu.Launch) (names []string) {
	for _, l := range launches {
		if name := l.Entry.Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
