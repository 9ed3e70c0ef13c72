package lower

import (
	"fmt"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
	"warpbook/kernel/leaf/lazyregexp"
)

// statements are intrinsics of NVPTX with effects: $0 is the result if there is one, the
// arguments follow.
var statements = map[string]string{
	"barrier0": "bar.sync 0", "barrier.cta.sync.aligned.all": "bar.sync $0", "barrier.cta.sync.all": "barrier.sync $0",
	"barrier.cta.sync.aligned.count": "bar.sync $0, $1", "barrier.cta.sync.count": "barrier.sync $0, $1", "barrier.cta.arrive.aligned.count": "bar.arrive $0, $1",
	"barrier.cta.red.or.aligned.all": "bar.red.or.pred $0, $1, $2", "barrier.cta.red.and.aligned.all": "bar.red.and.pred $0, $1, $2", "barrier.cta.red.popc.aligned.all": "bar.red.popc.u32 $0, $1, $2",
	"bar.warp.sync": "bar.warp.sync $0", "membar.cta": "membar.cta", "membar.gl": "membar.gl", "membar.sys": "membar.sys", "fence.sc.cluster": "fence.sc.cluster",
	"vote.all.sync": "vote.sync.all.pred $0, $2, $1", "vote.any.sync": "vote.sync.any.pred $0, $2, $1", "vote.uni.sync": "vote.sync.uni.pred $0, $2, $1", "vote.ballot.sync": "vote.sync.ballot.b32 $0, $2, $1",
	"match.any.sync.i32": "match.any.sync.b32 $0, $2, $1", "match.any.sync.i64": "match.any.sync.b64 $0, $2, $1",
	"match.all.sync.i32p": "match.all.sync.b32 $0|$1, $3, $2", "match.all.sync.i64p": "match.all.sync.b64 $0|$1, $3, $2",
	"activemask": "activemask.b32 $0", "nanosleep": "nanosleep.u32 $0", "exit": "exit",
	"read.ptx.sreg.clock": "mov.u32 $0, %clock", "read.ptx.sreg.clock64": "mov.u64 $0, %clock64", "read.ptx.sreg.globaltimer": "mov.u64 $0, %globaltimer",
	"barrier.cluster.arrive": "barrier.cluster.arrive", "barrier.cluster.arrive.relaxed": "barrier.cluster.arrive.relaxed", "barrier.cluster.wait": "barrier.cluster.wait",
	"barrier.cluster.arrive.aligned": "barrier.cluster.arrive.aligned", "barrier.cluster.arrive.relaxed.aligned": "barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.wait.aligned": "barrier.cluster.wait.aligned",
}

// results are intrinsics of NVPTX without effects.
var results = map[string]string{
	"fns": "fns.b32 $0, $1, $2, $3", "prmt": "prmt.b32 $0, $1, $2, $3", "mulhi.i": "mul.hi.s32 $0, $1, $2", "mulhi.ui": "mul.hi.u32 $0, $1, $2", "mulhi.ll": "mul.hi.s64 $0, $1, $2", "mulhi.ull": "mul.hi.u64 $0, $1, $2",
	"mul24.i": "mul24.lo.s32 $0, $1, $2", "mul24.ui": "mul24.lo.u32 $0, $1, $2", "sad.i": "sad.s32 $0, $1, $2, $3", "sad.ui": "sad.u32 $0, $1, $2, $3",
	"lohi.i2d": "mov.b64 $0, {$1, $2}", "fmax.f": "max.f32 $0, $1, $2", "fmin.f": "min.f32 $0, $1, $2", "fmax.d": "max.f64 $0, $1, $2", "fmin.d": "min.f64 $0, $1, $2",
	"fmax.nan.f": "max.NaN.f32 $0, $1, $2", "fmin.nan.f": "min.NaN.f32 $0, $1, $2", "saturate.f": "cvt.sat.f32.f32 $0, $1", "saturate.ftz.f": "cvt.ftz.sat.f32.f32 $0, $1", "saturate.d": "cvt.sat.f64.f64 $0, $1",
	"idp4a.s.s": "dp4a.s32.s32 $0, $1, $3, $5", "idp4a.u.u": "dp4a.u32.u32 $0, $1, $3, $5",
	"isspacep.global": "isspacep.global $0, $1", "isspacep.shared": "isspacep.shared $0, $1", "isspacep.const": "isspacep.const $0, $1", "isspacep.local": "isspacep.local $0, $1", "isspacep.shared.cluster": "isspacep.shared::cluster $0, $1",
	"sqrt.f": "sqrt.rn.f32 $0, $1", "fabs.f32": "abs.f32 $0, $1", "fabs.f64": "abs.f64 $0, $1", "bitcast.f2i": "mov.b32 $0, $1", "bitcast.i2f": "mov.b32 $0, $1", "bitcast.d2ll": "mov.b64 $0, $1", "bitcast.ll2d": "mov.b64 $0, $1",
	"d2ll.rn": "cvt.rni.s64.f64 $0, $1", "d2ll.rz": "cvt.rzi.s64.f64 $0, $1", "f2ll.rn": "cvt.rni.s64.f32 $0, $1", "f2ll.rz": "cvt.rzi.s64.f32 $0, $1",
	"f2ll.rn.ftz": "cvt.rni.ftz.s64.f32 $0, $1", "f2ll.rz.ftz": "cvt.rzi.ftz.s64.f32 $0, $1", "mapa": "mapa.u64 $0, $1, $2", "getctarank": "getctarank.u64 $0, $1",
	"read.ptx.sreg.warpsize": "mov.u32 $0, WARP_SZ",
}

// letters are the types that end the names of NVPTX's intrinsics.
var letters = map[string]string{"f": "f32", "d": "f64", "f32": "f32", "f64": "f64", "f16": "f16", "f16x2": "f16x2", "v2f16": "f16x2"}

// nvvm lowers an intrinsic of NVPTX, by its name after "llvm.nvvm.".
func (f *fn) nvvm(v *ir.Value, name string) {
	if format := statements[name]; format != "" {
		f.statement(v, format)
		return
	}
	if register, ok := strings.CutPrefix(name, "read.ptx.sreg."); ok && results[name] == "" {
		f.define(v, fmt.Sprintf("mov.u%d $0, %%%s", registerWidth(v.Type), specialRegister(register)))
		return
	}
	if parts := strings.Split(name, "."); len(parts) == 4 && parts[0] == "shfl" && parts[1] == "sync" {
		pair := strings.HasSuffix(parts[3], "p")
		format := "shfl.sync." + parts[2] + ".b32 $0, $2, $3, $4, $1"
		if pair {
			format = "shfl.sync." + parts[2] + ".b32 $0|$1, $3, $4, $5, $2"
		}
		f.statement(v, format)
		return
	}
	if rest, ok := strings.CutPrefix(name, "wmma."); ok {
		f.matrices(v, rest)
		return
	}
	if op, ok := strings.CutPrefix(name, "redux.sync."); ok {
		kind := map[string]string{"add": "add.s32", "umax": "max.u32", "umin": "min.u32", "max": "max.s32", "min": "min.s32", "and": "and.b32", "or": "or.b32", "xor": "xor.b32"}[op]
		if kind != "" {
			f.statement(v, "redux.sync."+kind+" $0, $1, $2")
			return
		}
	}
	format := results[name]
	if format == "" {
		format = arithmeticForm(name)
	}
	if format == "" {
		f.fail("unknown intrinsic @llvm.nvvm.%s", name)
	}
	args := make([]operand, 0, len(v.Operands)-1)
	for _, o := range v.Operands[1:] {
		args = append(args, f.register(o))
	}
	f.define(v, format, args...)
}

// arithmeticForm is the format of an intrinsic whose name is that of an instruction with a
// letter for its type, such as add.rn.ftz.f.
func arithmeticForm(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || letters[name[i+1:]] == "" {
		return ""
	}
	word, t := name[:i], letters[name[i+1:]]
	arguments := map[string]int{"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1, "rsqrt": 1, "ex2": 1, "lg2": 1, "sin": 1, "cos": 1, "tanh": 1}
	op, _, _ := strings.Cut(word, ".")
	format := word + "." + t + " $0"
	for k := range arguments[op] {
		format += fmt.Sprintf(", $%d", k+1)
	}
	if arguments[op] == 0 {
		return ""
	}
	return format
}

// specialRegister is PTX's name of a special register.
func specialRegister(name string) string {
	for _, prefix := range []string{"cluster.ctaid", "cluster.nctaid", "cluster.ctarank", "cluster.nctarank", "lanemask."} {
		if strings.HasPrefix(name, prefix) {
			return strings.Replace(name, ".", "_", 1)
		}
	}
	return name
}

// statement emits an intrinsic with effects.
func (f *fn) statement(v *ir.Value, format string) {
	var outs []operand
	for _, t := range f.leaves(v.Type) {
		outs = append(outs, operand{Reg: f.out.NewReg(f.class(t))})
	}
	args := append([]operand{}, outs...)
	for _, o := range v.Operands[1:] {
		one := f.one(o)
		if o.Type.IsBool() || o.Type.IsFloat() {
			one = f.inRegister(one, f.class(o.Type))
		}
		args = append(args, one)
	}
	f.emit(format, len(outs), args...)
	f.set(v, outs...)
}

// matrixShape is the shape in the name of an intrinsic of wmma.
var matrixShape = lazyregexp.New(`^m(\d+)n(\d+)k(\d+)$`)

// matrices lowers loads, stores and products of matrices of a warp, by the intrinsic's name
// after "wmma.".
func (f *fn) matrices(v *ir.Value, name string) {
	words := strings.Split(name, ".")
	shape := matrixShape().FindStringSubmatch(words[0])
	var outs []operand
	for _, t := range f.leaves(v.Type) {
		outs = append(outs, operand{Reg: f.out.NewReg(f.class(t))})
	}
	var args []operand
	for _, o := range v.Operands[1:] {
		if o.Type.Kind == ir.Pointer {
			args = append(args, f.inRegister(f.pointer(o, generic), machine.B64))
			continue
		}
		args = append(args, f.register(o))
	}
	all := append(append([]operand{}, outs...), args...)
	at := 0
	list := func(n int) string { // of the next n operands
		var names []string
		for range n {
			names = append(names, fmt.Sprintf("$%d", at))
			at++
		}
		return "{" + strings.Join(names, ", ") + "}"
	}
	switch {
	case shape == nil:
	case len(words) == 7 && words[1] == "load" && words[4] == "stride":
		f.emit(fmt.Sprintf("wmma.load.%s.sync.aligned.%s.%s.%s %s, [$%d], $%d", words[2], words[3], words[0], words[5], list(len(outs)), len(outs), len(outs)+1), len(outs), all...)
		f.set(v, outs...)
		return
	case len(words) == 7 && words[1] == "store" && words[4] == "stride":
		at = 1
		f.emit(fmt.Sprintf("wmma.store.d.sync.aligned.%s.%s.%s [$0], %s, $%d", words[3], words[0], words[5], list(len(args)-2), len(args)-1), 0, all...)
		return
	case len(words) >= 5 && words[1] == "mma":
		if types, a, b := matrixTypes(shape, words[4:]); types != "" && a+b < len(args) {
			f.emit(fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s", words[2], words[3], words[0], types, list(len(outs)), list(a), list(b), list(len(args)-a-b)), len(outs), all...)
			f.set(v, outs...)
			return
		}
	}
	f.fail("unknown intrinsic @llvm.nvvm.wmma.%s", name)
}

// matrixTypes are the types of a product for those in its intrinsic's name, and the numbers of
// registers of the factors; "" if there is no such product.
func matrixTypes(shape, words []string) (types string, a, b int) {
	if len(words) == 2 && strings.HasPrefix(words[0], "f") { // of halves, each twice in a warp: results, sums
		return words[0] + "." + words[1], 8, 8
	}
	packed := map[string]int{"s8": 4, "u8": 4, "bf16": 2, "tf32": 1, "f64": 1}[words[0]]
	sum := map[string]string{"s8": "s32", "u8": "s32", "f64": "f64"}[words[0]]
	if len(words) != 1 || packed == 0 {
		return "", 0, 0
	}
	if sum == "" {
		sum = "f32"
	}
	var m, n, k int
	fmt.Sscan(strings.Join(shape[1:], " "), &m, &n, &k) // digits
	return strings.Join([]string{sum, words[0], words[0], sum}, "."), m * k / 32 / packed, k * n / 32 / packed
}
