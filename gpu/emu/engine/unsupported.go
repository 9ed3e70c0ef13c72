package engine

import (
	"errors"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/loader"
)

// noForm rejects an opcode without a form.
func (lo *lowering) noForm() error {
	return lo.misspelt(lo.unsupported("opcode %s", lo.op.in.src.Opcode))
}

// misspelt is the error for an unsupported instruction with a word that does not exist
// in PTX: no GPU would run it. The forms of control flow have no other look at modifiers.
func (lo *lowering) misspelt(err error) error {
	src := lo.op.in.src
	byInline := strings.Contains(src.Opcode, " ") // the user did not write this word
	if byInline || !errors.Is(err, gpu.ErrUnsupported) && (err != nil || !flows[src.Opcode]) {
		return err
	}
	if word, text := loader.Unknown(lo.module.Text, src); word != "" {
		return lo.malformed("%s", text)
	}
	return err
}

var flows = map[string]bool{"bra": true, "brx": true, "ret": true, "exit": true, "trap": true, "call": true}
