package emu

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/loader"
	"warpbook/gpu/ptx"
)

// refuseClusters refuses an entry whose clusters only a launch could give, by the
// name of the directive.
func (m *module) refuseClusters(fn *ptx.Function) error {
	if len(fn.Clusters) == 0 || fn.Cluster != [3]int{} && !slices.Contains(fn.Clusters, "blocksareclusters") {
		return nil
	}
	return fmt.Errorf("emu: entry %s at %s:%d: %w: .%s without .reqnctapercluster on the emulator: give the clusters by __cluster_dims__, or run this entry on a GPU",
		fn.Name, m.text.Name, fn.Pos.Line, gpu.ErrUnsupported, fn.Clusters[len(fn.Clusters)-1])
}

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
