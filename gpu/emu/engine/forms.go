package engine

import (
	"warpbook/gpu/emu/flow"
	"warpbook/gpu/ptx"
)

// forms maps each opcode to its lowering. Opcodes that compute a result from their
// operands are rows; opcodes that are in neither table are rejected by name.
var forms = map[string]form{
	"add": rowForm, "sub": rowForm, "mul": rowForm, "mad": rowForm, "fma": rowForm, "div": rowForm, "rem": rowForm,
	"mul24": rowForm, "mad24": rowForm, "sad": rowForm, "abs": rowForm, "neg": rowForm, "min": rowForm, "max": rowForm,
	"and": rowForm, "or": rowForm, "xor": rowForm, "not": rowForm, "cnot": rowForm, "shl": rowForm, "shr": rowForm,
	"popc": rowForm, "clz": rowForm, "brev": rowForm, "bfind": rowForm, "bfe": rowForm, "shf": rowForm, "prmt": rowForm,
	"dp2a": rowForm, "dp4a": rowForm, "bmsk": rowForm, "szext": rowForm, "fns": rowForm, "rcp": rowForm, "sqrt": rowForm, "rsqrt": rowForm, "ex2": rowForm, "lg2": rowForm,
	"sin": rowForm, "cos": rowForm, "tanh": rowForm, "copysign": rowForm, "vabsdiff2": rowForm, "vabsdiff4": rowForm,
	"addc": carryForm, "subc": carryForm, "madc": carryForm,
	"lop3": lop3Form, "bfi": bfiForm, "selp": selpForm, "slct": slctForm,
	"setp": setpForm, "set": setForm, "testp": testpForm, "cvt": cvtForm,
	"mov": movForm, "cvta": cvtaForm, "isspacep": isspacepForm,
	"ld": loadForm, "ldu": loadForm, "st": asyncOr(storeForm), "atom": asyncOr(atomForm), "red": asyncOr(atomForm),
	"bra": branchForm, "brx": indexedForm, "ret": leaveForm, "exit": leaveForm, "trap": trapForm, "call": callForm,
	"bar": barrierForm, "barrier": barrierForm, "membar": fenceForm, "fence": fenceForm,
	"nanosleep": pauseForm, "prefetch": nothingForm, "prefetchu": nothingForm, "pmevent": nothingForm,
	"griddepcontrol": nothingForm, "applypriority": nothingForm,
	"shfl": shuffleForm, "vote": voteForm, "match": matchForm, "redux": reduxForm, "activemask": activemaskForm,
	"elect": electForm, "mma": mmaForm, "wmma": wmmaForm, "ldmatrix": ldmatrixForm, "stmatrix": stmatrixForm, "movmatrix": movmatrixForm,
	"createpolicy": policyForm, "cp": cpForm, "mbarrier": mbarrierForm, "mapa": mapaForm, "wgmma": wgmmaForm, "setmaxnreg": setmaxnregForm,
	"tex": texForm, "tld4": tld4Form, "txq": txqForm, "suq": txqForm, "suld": suldForm, "sust": sustForm, "call vprintf": printfForm, "call __assertfail": assertForm, "call malloc": mallocForm, "call free": freeForm, "call deep": deepForm,
}

// Lower makes an entry ready to run, or rejects it with the first instruction that is
// malformed or not supported.
func (e *Engine) Lower(m Module, entry *ptx.Function) (*Program, error) {
	if err := m.rejectClusters(entry); err != nil {
		return nil, err
	}
	fn, err := flow.Inline(m.Text, entry)
	if err != nil {
		return nil, err
	}
	lo := &lowering{module: m, compute: e.info.Compute, forms: forms, fn: fn, prog: &Program{
		name: entry.Name, file: m.Text.Name, files: m.Text.Files, fn: entry, inlined: fn, text: m.Text, symbols: m.Symbols, locals: map[string]uint64{},
	}}
	if err := lo.program(); err != nil {
		return nil, err
	}
	return lo.prog, nil
}
