package emu

import (
	"errors"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/loader"
)

// noForm refuses an opcode that has no form.
func (lo *lowering) noForm() error {
	return lo.misspelt(lo.unsupported("opcode %s", lo.op.in.src.Opcode))
}

// misspelt is the error for an instruction that is not supported because it has
// a word that PTX does not have: no GPU would run it.
func (lo *lowering) misspelt(err error) error {
	src := lo.op.in.src
	byInline := strings.Contains(src.Opcode, " ") // no word of the user's
	if byInline || !errors.Is(err, gpu.ErrUnsupported) {
		return err
	}
	if word, text := loader.Unknown(lo.module.text, src); word != "" {
		return lo.malformed("%s", text)
	}
	return err
}
