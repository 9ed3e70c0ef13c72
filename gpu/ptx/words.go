package ptx

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// wordsVersion is the version of the language to which the words below belong.
var wordsVersion = [2]int{9, 0}

const (
	ints        = " u16 s16 u32 s32 u64 s64"
	words32     = " u32 s32"
	longs       = " u32 s32 u64 s64"
	untyped     = " b16 b32 b64"
	halves      = " f16 f16x2 bf16 bf16x2"
	floats      = halves + " f32 f64"
	pairs       = " u16x2 s16x2"
	stored      = " b8 b16 b32 b64 b128 u8 s8" + ints + " f32 f64"
	rounded     = " rn rz rm rp"
	compared    = " eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz" + untyped + ints + floats
	allSpaces   = " global shared shared::cta shared::cluster local const param param::entry param::func"
	scopes      = " cta cluster gpu sys"
	ordered     = " weak volatile relaxed acquire release acq_rel mmio" + scopes
	evicted     = " L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal L2::evict_unchanged L2::evict_first L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B"
	reduced     = " and or xor cas exch add inc dec min max noftz"
	transaction = " mbarrier::complete_tx::bytes"
	surfaces    = " b p 1d 2d 3d a1d a2d ca cg cs cv wb wt v2 v4 trap clamp zero b8 b16 b32 b64 f32" + longs
	matrix      = " sync aligned row col satfinite xor and popc" + rounded + " b1 u4 s4 u8 s8 s32 f16 bf16 tf32 f32 f64"
)

// modifiers are the words that may follow an opcode, in any of its forms: of all
// instructions that gpu/emu runs, and of others. In doubt a word is listed, so that no valid
// text is rejected. A shape such as m16n8k16 is a modifier, too.
//
// Source: PTX ISA 9.0.
var modifiers = map[string]string{
	"add": "sat cc ftz f32x2" + rounded + ints + pairs + floats, "sub": "sat cc ftz f32x2" + rounded + ints + floats,
	"mul": "hi lo wide sat ftz f32x2" + rounded + ints + floats, "mad": "hi lo wide sat cc ftz f32 f64" + rounded + ints,
	"fma": "sat ftz relu oob f32x2" + rounded + floats, "div": "approx full ftz f32 f64" + rounded + ints, "rem": ints,
	"mul24": "hi lo" + words32, "mad24": "hi lo sat" + words32, "sad": ints, "abs": "ftz" + ints + floats, "neg": "ftz" + ints + floats,
	"min": "relu ftz NaN xorsign abs" + ints + pairs + floats, "max": "relu ftz NaN xorsign abs" + ints + pairs + floats,
	"and": "pred" + untyped, "or": "pred" + untyped, "xor": "pred" + untyped, "not": "pred" + untyped, "cnot": untyped, "shl": untyped, "shr": untyped + ints,
	"popc": "b32 b64", "clz": "b32 b64", "brev": "b32 b64", "bfind": "shiftamt" + longs, "bfe": longs, "bfi": "b32 b64",
	"shf": "l r clamp wrap b32", "prmt": "b32 f4e b4e rc8 ecl ecr rc16", "dp2a": "lo hi" + words32, "dp4a": words32, "vabsdiff2": "sat add" + words32, "vabsdiff4": "sat add" + words32,
	"bmsk": "clamp wrap b32", "szext": "clamp wrap" + words32, "fns": "b32",
	"rcp": "approx ftz f32 f64" + rounded, "sqrt": "approx ftz f32 f64" + rounded, "rsqrt": "approx ftz f32 f64",
	"ex2": "approx ftz f32" + halves, "lg2": "approx ftz f32", "sin": "approx ftz f32", "cos": "approx ftz f32", "tanh": "approx f32" + halves,
	"copysign": "f32 f64", "addc": "cc" + ints, "subc": "cc" + ints, "madc": "hi lo cc" + ints,
	"lop3": "or and b32", "selp": "f32 f64" + untyped + ints, "slct": "ftz f32 f64" + untyped + ints,
	"setp": compared, "set": compared, "testp": "finite infinite number notanumber normal subnormal f32 f64",
	"cvt": "rna rs rni rzi rmi rpi ftz sat satfinite relu pack scaled::n2::ue8m0 b32 u2 s2 u4 s4 u8 s8 tf32" + rounded + ints + floats +
		" e4m3x2 e5m2x2 e4m3x4 e5m2x4 e2m1x2 e2m3x2 e3m2x2 e2m1x4 e2m3x4 e3m2x4 ue8m0x2",
	"mov": "pred b128 f32 f64" + untyped + ints, "cvta": "to" + allSpaces + longs, "isspacep": allSpaces,
	"ld":   "ca cg cs lu cv nc unified v2 v4 v8" + allSpaces + ordered + evicted + stored,
	"ldu":  "v2 v4" + allSpaces + stored,
	"st":   "wb cg cs wt async bulk v2 v4 v8" + transaction + allSpaces + ordered + evicted + stored,
	"atom": "v2 v4 v8 b16 b32 b64 b128" + reduced + allSpaces + ordered + evicted + longs + floats,
	"red":  "async v2 v4 v8 b32 b64" + transaction + reduced + allSpaces + ordered + evicted + longs + floats,
	"bra":  "uni", "brx": "idx uni", "ret": "uni", "exit": "", "trap": "", "call": "uni",
	"bar": "sync arrive red popc and or warp cta pred" + words32, "barrier": "sync arrive red popc and or cta cluster wait aligned acquire release relaxed pred" + words32,
	"membar":    "gl proxy alias async async::generic" + scopes,
	"fence":     "sc acq_rel acquire release proxy alias async async::generic tensormap::generic mbarrier_init global shared::cta shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster" + scopes,
	"nanosleep": words32, "prefetch": "L1 L2 tensormap global local const param generic" + evicted, "prefetchu": "L1", "pmevent": "mask",
	"griddepcontrol": "launch_dependents wait", "applypriority": "global" + evicted,
	"shfl": "sync up down bfly idx b32", "vote": "sync all any uni ballot pred b32", "match": "sync any all b32 b64",
	"redux": "sync add min max and or xor abs NaN b32 f32" + words32, "activemask": "b32", "elect": "sync",
	"mma":      "sp sp::ordered_metadata kind::f8f6f4 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 block_scale scale_vec::1X scale_vec::2X scale_vec::4X e4m3 e5m2 e2m1 e2m3 e3m2 ue8m0 ue4m3" + matrix,
	"wmma":     "load store mma a b c d global shared shared::cta shared::cluster" + matrix,
	"ldmatrix": "sync aligned x1 x2 x4 trans shared shared::cta b8 b16 b8x16 b6x16_p32 b4x16_p64", "stmatrix": "sync aligned x1 x2 x4 trans shared shared::cta b8 b16",
	"createpolicy": "range fractional cvt L2 global b64" + evicted,
	"cp": "async ca cg commit_group wait_group wait_all mbarrier arrive noinc bulk bulk_group tensor 1d 2d 3d 4d 5d tile tile::gather4 tile::scatter4 im2col im2col_no_offs im2col::w im2col::w::128 read prefetch L2 reduce multicast::cluster cp_mask ignore_oob cta_group::1 cta_group::2 b32 b64 f16 bf16 f32 f64" +
		transaction + reduced + allSpaces + ordered + evicted + longs,
	"mapa": "shared::cluster u32 u64", "getctarank": "shared::cluster u32 u64", "setmaxnreg": "inc dec sync aligned u32", "movmatrix": "trans" + matrix + " b16",
	"wgmma": "mma_async fence commit_group wait_group sp e4m3 e5m2" + matrix,
	"tex":   "1d 2d 3d a1d a2d cube acube 2dms a2dms base level grad v2 v4 f16 f16x2 f32" + words32, "tld4": "r g b a 2d a2d cube acube v4 f32" + words32,
	"txq": "level width height depth channel_data_type channel_order normalized_coords force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2 array_size num_mipmap_levels num_samples b32",
	"suq": "width height depth channel_data_type channel_order array_size memory_layout b32", "suld": surfaces, "sust": surfaces, "sured": surfaces + " add min max and or",
	"istypep": "texref samplerref surfref", "discard": "global L2", "brkpt": "", "alloca": "u32 u64", "stacksave": "u32 u64", "stackrestore": "u32 u64",
	"mbarrier": "init inval expect_tx complete_tx arrive arrive_drop test_wait try_wait pending_count parity noComplete b64" + allSpaces + ordered,
}

// otherOpcodes are those that gpu/emu does not run. Their modifiers are not checked.
const otherOpcodes = `clusterlaunchcontrol multimem tcgen05 tensormap vabsdiff vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2
	vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4`

// Opcodes are those of PTX.
func Opcodes() []string {
	return append(slices.Sorted(maps.Keys(modifiers)), strings.Fields(otherOpcodes)...)
}

// Modifiers are the words that may follow an opcode, nil if it is unknown.
func Modifiers(opcode string) []string { return strings.Fields(modifiers[opcode]) }

var shaped = regexp.MustCompile(`^m\d+n\d+(k\d+)?$`)

// Unknown is the first unknown word of an instruction, "" if there is none: the opcode,
// or a modifier with its dot that no form of the opcode has. legal are the known words
// for that place. Words of versions after PTX 9.0 count as known.
func (m *Module) Unknown(in *Instruction) (word string, legal []string) {
	if slices.Compare(m.Version[:], wordsVersion[:]) > 0 {
		return "", nil
	}
	text, ok := modifiers[in.Opcode]
	if !ok {
		if all := Opcodes(); !slices.Contains(all, in.Opcode) {
			return in.Opcode, all
		}
		return "", nil
	}
	known := strings.Fields(text)
	for _, m := range in.Modifiers {
		if slices.Contains(known, m) || strings.Contains(in.Opcode, "m") && shaped.MatchString(m) {
			continue
		}
		for _, k := range known {
			legal = append(legal, "."+k)
		}
		return "." + m, legal
	}
	return "", nil
}
