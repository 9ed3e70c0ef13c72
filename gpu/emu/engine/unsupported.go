package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/loader"
	"warpbook/gpu/ptx"
)

// refuseClusters rejects an entry whose clusters only a launch could give, by the name
// of the directive.
func (m Module) refuseClusters(fn *ptx.Function) error {
	if len(fn.Clusters) == 0 || fn.Cluster != [3]int{} && !slices.Contains(fn.Clusters, "blocksareclusters") {
		return nil
	}
	return fmt.Errorf("emu: entry %s at %s:%d: %w: .%s without .reqnctapercluster on the emulator: give the clusters by __cluster_dims__, or run this entry on a GPU",
		fn.Name, m.Text.Name, fn.Pos.Line, gpu.ErrUnsupported, fn.Clusters[len(fn.Clusters)-1])
}

// noForm rejects an opcode without a form.
func (lo *lowering) noForm() error {
	return lo.misspelt(lo.unsupported("opcode %s", lo.op.in.src.Opcode))
}

// misspelt is the error for an unsupported instruction with a word that does not exist
// in PTX: no GPU would run it.
func (lo *lowering) misspelt(err error) error {
	src := lo.op.in.src
	byInline := strings.Contains(src.Opcode, " ") // the user did not write this word
	if byInline || !errors.Is(err, gpu.ErrUnsupported) {
		return err
	}
	if word, text := loader.Unknown(lo.module.Text, src); word != "" {
		return lo.malformed("%s", text)
	}
	return err
}
