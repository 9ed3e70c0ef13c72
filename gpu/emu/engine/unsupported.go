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

// rejectClusters rejects an entry whose launches count clusters in place of blocks, by
// the name of the directive.
func (m Module) rejectClusters(fn *ptx.Function) error {
	if !slices.Contains(fn.Clusters, "blocksareclusters") {
		return nil
	}
	return fmt.Errorf("emu: entry %s at %s:%d: %w: .blocksareclusters on the emulator: give the clusters by __cluster_dims__ or by Launch.Cluster, or run this entry on a GPU",
		fn.Name, m.Text.Name, fn.Pos.Line, gpu.ErrUnsupported)
}

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
