package ladder

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/ops/ladder/loop"
)

// MachineCode holds the facts about the machine code of the committed PTX on which
// counters of memory and the speed of a loop depend.
type MachineCode struct {
	Assembler string
	Target    string
	Entries   map[string]map[string]MachineEntry // by file and name
}

// MachineEntry counts the accesses in the machine code of an entry by opcode
// and width, such as "LDS.128", and the registers of a thread; SpillBytes are the
// bytes that it stores and loads because registers are used up. Code is EntryHash of
// its PTX.
type MachineEntry struct {
	Code       string
	Registers  int
	SpillBytes int
	Accesses   map[string]int
	Loop       *loop.Loop `json:",omitempty"` // nil where no loop multiplies
}

// MachineCode reads the operator's machine.json; one without the file has no
// entries.
func (o *Operator) MachineCode() (m MachineCode, err error) {
	text, err := fs.ReadFile(o.Files, "machine.json")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("ops: %s: machine.json: %w", o.Name, err)
	}
	return m, nil
}

// Notes are lines about the named entries of a file whose machine code differs from their
// PTX in a way that counts, or is of another version of them.
func (m MachineCode) Notes(file PTX, entries []string) (notes []string) {
	by := fmt.Sprintf(" (machine code of %s for %s).", m.Assembler, m.Target)
	for _, name := range entries {
		code := EntryHash(file.Text, name)
		if code == "" {
			continue // an entry of another module
		}
		e, ok := m.Entries[file.Name][name]
		if !ok || e.Code != code {
			notes = append(notes, name+": not compared with its machine code: run `go run ./ops/cmd/machine`.")
			continue
		}
		for _, difference := range e.differences(accessesOf(file.Text, name)) {
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

// entryBody is the PTX of an entry from its parameters on, "" if there is none. It ends
// with the brace that closes it: assembly that stands in a kernel has braces of its own,
// some at the start of a line.
func entryBody(text, entry string) string {
	_, rest, found := strings.Cut(text, ".entry "+entry+"(")
	if !found {
		return ""
	}
	depth := 0
	for i, c := range []byte(rest) {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return strings.TrimSuffix(rest[:i], "\n") + "\n"
			}
		}
	}
	return ""
}

// EntryHash is a hash of an entry's PTX that depends neither on lines of the
// source nor on other entries; "" if there is no such entry.
func EntryHash(text, entry string) string {
	body := entryBody(text, entry)
	if body == "" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(codeOf(body)))[:16]
}

// codeOf is PTX without empty lines, comments and places of the source, and with labels
// that do not depend on the entries before: "$L__BB7_3" is "$L__BB_3".
func codeOf(body string) []byte {
	code := make([]byte, 0, len(body))
	for line := range strings.Lines(body) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, ".loc\t") || strings.HasPrefix(text, ".loc ") {
			continue
		}
		for {
			before, after, found := strings.Cut(line, "$L__BB")
			code = append(code, before...)
			if !found {
				break
			}
			rest := strings.TrimLeft(after, "0123456789")
			if len(rest) < len(after) && strings.HasPrefix(rest, "_") {
				after = rest
			}
			code, line = append(code, "$L__BB"...), after
		}
	}
	return code
}
