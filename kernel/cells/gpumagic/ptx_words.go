package gpumagic

import (
	"slices"
	"strings"

	isa "warpbook/gpu/ptx"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/leaf/lazyregexp"
)

// directives and specials are words of PTX besides opcodes and their modifiers.
var (
	directives = strings.Fields("version target address_size visible extern weak entry func param reg shared local global const align maxntid reqntid minnctapersm maxnreg pragma loc file branchtargets calltargets callprototype b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 pred")
	specials   = strings.Fields("tid ntid ctaid nctaid laneid warpid nwarpid smid nsmid gridid lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock64 globaltimer envreg1 envreg2 dynamic_smem_size total_smem_size clusterid nclusterid cluster_ctaid cluster_nctaid cluster_ctarank cluster_nctarank")
	ptxName    = lazyregexp.New(`(?:^|[^.\w])([$A-Za-z_]\w*)`)
	comment    = lazyregexp.New(`//[^\n]*|(?s:/\*.*?\*/)`)
)

// ptxWords are the names that a cell in PTX can use after a prefix: modifiers after an
// opcode such as "ld.global.", directives after a dot, else names of the cell, special
// registers and opcodes.
func ptxWords(body, before string) (words []magic.Word) {
	add := func(kind, declaration string, names ...string) {
		for _, name := range names {
			if !slices.ContainsFunc(words, func(w magic.Word) bool { return w.Name == name }) {
				words = append(words, magic.Word{Name: name, Kind: kind, Declaration: declaration})
			}
		}
	}
	opcode, rest, dotted := strings.Cut(before, ".")
	switch {
	case dotted && opcode == "":
		add("keyword", "directive of PTX", directives...)
	case dotted && slices.Contains(specials, opcode):
		add("field", "axis of %"+opcode, "x", "y", "z")
	case dotted:
		used := strings.Split(rest, ".")
		add("keyword", "modifier of "+opcode, slices.DeleteFunc(isa.Modifiers(opcode), func(m string) bool { return slices.Contains(used, m) })...)
	default:
		for _, m := range ptxName().FindAllStringSubmatch(comment().ReplaceAllString(body, ""), -1) {
			if len(isa.Modifiers(m[1])) == 0 {
				add("variable", "name of this cell", m[1])
			}
		}
		add("variable", "special register", specials...)
		add("function", "opcode of PTX", isa.Opcodes()...)
	}
	return words
}
