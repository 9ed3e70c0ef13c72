package engine

import (
	"strings"
	"testing"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// TestRowsAreWords: package ptx lists the opcodes and modifiers of all rows, and the
// modifiers of every opcode that runs, so that a misspelt one is called malformed and is
// not sent to a GPU.
func TestRowsAreWords(t *testing.T) {
	module := &ptx.Module{}
	for name, r := range arith.Rows {
		parts := strings.Split(name, ".")
		in := &ptx.Instruction{Opcode: parts[0], Modifiers: append(parts[1:], strings.Fields(r.Options)...)}
		if word, _ := module.Unknown(in); word != "" {
			t.Errorf("%s %s: %s is not known", name, r.Options, word)
		}
	}
	for opcode := range forms {
		if strings.Contains(opcode, " ") { // not a word of PTX
			continue
		}
		if word, _ := module.Unknown(&ptx.Instruction{Opcode: opcode}); word != "" {
			t.Errorf("%s is not known", opcode)
		}
		if word, _ := module.Unknown(&ptx.Instruction{Opcode: opcode, Modifiers: []string{"clutser"}}); word != ".clutser" {
			t.Errorf("%s.clutser: %q, expected the modifier that no instruction has", opcode, word)
		}
	}
}
