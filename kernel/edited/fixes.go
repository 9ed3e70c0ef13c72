package edited

import "embed"

// added are the files of ours that modules get, a folder each.
//
//go:embed ixgo reflectx
var added embed.FS

// modules are those that the cells program is built with an edited copy of.
var modules = []module{{
	path: "github.com/goplus/ixgo", version: "v1.1.1", added: "ixgo",
	linked: []string{"pkg"}, // 115 MB of tables
	sums: map[string]string{
		"binop_x.go":   "83442601c595ea01a6875fba2b26cb2927ce5cb40cc358c051a6468b32f23c03",
		"builtin.go":   "6041f28c7b9a2b27c9051d54b12c60bd050d1c0158750cf02125d0146e490d36",
		"context.go":   "f303792df7366c50d5a19ac2a736cfdbfb49f4d71641455fdfbcd5d150cdb17b",
		"interp.go":    "ed3f1cfb24702b0ed9b88b61f3744d8772ec21819809f48b77997b908b860536",
		"opblock.go":   "a6b52214ed6a2fd6c5686e0644901cfc7dae9ae2ae6f92f2d31ab99a64e50bbc",
		"ops.go":       "2f6a3556922ce90e1eeb6b19fcf99590a23940fd5029d99f6cf8e69811b59198",
		"runtime.go":   "c4d83bc7ed59478d2e704cd336c140f4ca9ff2a7dfa18b31b882f11c269756e4",
		"rtypes.go":    "e44327e96fb55ae8a64305458de1bb3110f34e720627badfa6df4772f2dae829",
		"typeparam.go": "425e0099c107d601676f6ea98702e97508c841397ba9db439211ace3448d0f92",
		"unop_x.go":    "0666111a8d51faf7aed808882598816cf3f3b78e0bbbcddeb0cabc5c6937597d",
		"visit.go":     "ec56326da6ce5831e85dbb7271ffd5a8687727c3bec25480116d936abca767fc",
		"xtypes.go":    "fc87a27b3b7fc121dece03fcb9176ccaab6dde4e4b407907b26abf2bfcfbfad0",
	},
	fixes: []Fix{
		{
			Why:  "A tuple of results aliases the callee's frame, which goes back to a pool: concurrent calls return each other's results.",
			Test: "cells.TestConcurrentResults",
			Edits: []Edit{
				{"interp.go", 719, 719, "result = append(tuple(nil), fr.stack[:pfn.nres]...)"},
				{"interp.go", 786, 786, setResults},
				{"interp.go", 799, 799, setResults},
				{"interp.go", 841, 841, setResults},
				{"interp.go", 857, 857, setResults},
				{"interp.go", 878, 878, setResults},
			},
		},
		{
			Why:  "An unexported method that a struct has from an embedded interface cannot be called: reflect: Call of unexported method.",
			Test: "cells.TestSequences/reruns/an unexported method of an embedded interface in a later cell",
			Edits: []Edit{
				{"xtypes.go", 510, 510, "return callInside(v, name, args[1:], true)"},
				{"xtypes.go", 515, 515, "return callInside(v, name, args[1:], false)"},
			},
		},
		{
			Why:  "A call of a method through an interface keeps the method that it has found in a variable that all goroutines share: concurrent calls call each other's methods.",
			Test: "cells.TestConcurrentMethods",
			Edits: []Edit{
				{"opblock.go", 1209, 1210, ""},
				{"opblock.go", 1212, 1211, "var found bool\nvar ext reflect.Value"},
			},
		},
		{
			Why:   "Each program makes types of its own for unnamed structs that embed types with methods: values of two cells never have identical types.",
			Test:  "cells.TestSequences/types/pointer of an unnamed struct of an earlier cell",
			Edits: []Edit{{"xtypes.go", 296, 296, "rt, nested = r.unnamedStruct(t)"}},
		},
		{
			Why:   "A call through an interface finds no code for the method of a type that another program has made, unless its own program turns that type into an interface: it ends in a fault.",
			Test:  "cells.TestSequences/language/a closure of an earlier cell meets a later type",
			Edits: []Edit{{"opblock.go", 1193, 1193, "if m, ok := reflectx.MethodByName(typ, name); ok {"}},
		},
		{
			Why:   "A type assertion to a type that is no interface asks whether the value is assignable: a JSON that is declared as a map passes as map[string]any.",
			Test:  "cells.TestSequences/identity/assertions and switches match identical types",
			Edits: []Edit{{"ops.go", 1330, 1330, "if !Is(rt, typ) {"}},
		},
		{
			Why:  "A struct or a channel of a named type is never equal to one of the unnamed type: Point{1, 2} == struct{ X, Y int }{1, 2} is false.",
			Test: "cells.TestSequences/identity/comparisons of a named and an unnamed type",
			Edits: []Edit{
				{"binop_x.go", 36, 35, compareMixed},
				{"binop_x.go", 133, 132, compareMixed},
			},
		},
		{
			Why:  "A type assertion with v, ok that fails makes an error with all frames and drops it: an arm of a type switch takes 4 µs.",
			Test: "engine.TestObjects",
			Edits: []Edit{
				{"ops.go", 1313, 1312, "if instr.CommaOk && (iv == nil || !Is(reflect.TypeOf(iv), typ)) {\n\treturn tuple{reflect.Zero(typ).Interface(), false}\n}"},
				{"ops.go", 1356, 1359, "panic(err)"},
			},
		},
		{
			Why:   "The text of each type is made, to compare it with two: 1 % of the time that cells take.",
			Test:  "cells.TestSequences/language/defer recover()",
			Edits: []Edit{{"interp.go", 1258, 1258, "switch ofDeferStack(typ) {"}},
		},
		{
			Why:  "A deferred call of a compiled function looks for it by its name, each time: it takes 1 µs.",
			Test: "cells.TestSequences/language/defer recover()",
			Edits: []Edit{
				{"interp.go", 102, 102, "exited       int32                                       // is call os.Exit\n\texterns      sync.Map                                    // *ssa.Function without code -> reflect.Value"},
				{"interp.go", 618, 618, "ext, ok := i.extern(f)"},
			},
		},
		{
			Why:  "Each function keeps a map from instructions to registers that only runtime.GC reads, its maps and lists grow as it is compiled, and a call of a function of cells makes a value of the function by reflection, which is not called.",
			Test: "engine.TestFunctionsAreMadeCheaply",
			Edits: []Edit{
				{"opblock.go", 123, 122, "made       []made                       // registers, in place of instrIndex"},
				{"opblock.go", 234, 234, "ext, ok := p.Interp.extern(v)"},
				{"opblock.go", 251, 251, "p.made = append(p.made, made{p.makeInstr, i})"},
				{"opblock.go", 1043, 1043, "iv = pfn.calledRegister(call)"},
				{"opblock.go", 1103, 1103, "ext, ok := interp.extern(fn)"},
				{"interp.go", 122, 123, ""},
				{"interp.go", 132, 132, ""},
				{"interp.go", 134, 133, "pfn.reserve()"},
				{"interp.go", 264, 263, "registers := fr.pfn.madeBy()"},
				{"interp.go", 266, 266, "for _, v := range registers[instr] {"},
			},
		},
		{
			Why:  "Each program makes the types that package ssa lists: all that the types behind its interfaces lead to, also those of compiled packages, of which it uses none.",
			Test: "engine.TestProgramsMakeTheirOwnTypes",
			Edits: []Edit{
				{"context.go", 109, 108, "Reached []types.Type // those behind interfaces of the program that is loaded, without compiled ones; nil: those that package ssa lists"},
				{"visit.go", 136, 136, "for _, T := range visit.runtimeTypes() {"},
			},
		},
		{
			Why:  "A failed type assertion of a nil interface has other words than compiled Go, and that of a nil error is a nil dereference.",
			Test: "cells.TestSequences/identity/words of failed type assertions",
			Edits: []Edit{
				{"ops.go", 1316, 1322, "err = nilAsserted(fr, instr, typ, xtyp)"},
				{"ops.go", 1336, 1336, "rt, typ, meth.Name()))"},
				{"ops.go", 1338, 1338, "} else if name := missing(rt, typ); name != \"\" {\n\terr = fr.runtimeError(instr, fmt.Sprintf(\"interface conversion: %v is not %v: missing method %s\", rt, typ, name))\n}"},
			},
		},
		{
			Why:  "A map from or to an interface loses nil: m[key] = nil removes the key, and m[nil] panics.",
			Test: "cells.TestSequences/language/nil as key and value of maps",
			Edits: []Edit{
				{"opblock.go", 662, 662, "v := vm.MapIndex(keyOf(vm, idx))"},
				{"opblock.go", 1008, 1010, "setMap(fr.reg(im), fr.reg(ik), vv)"},
				{"opblock.go", 1014, 1017, "setMap(fr.reg(im), fr.reg(ik), fr.reg(iv))"},
				{"builtin.go", 62, 62, "deleteKey(args[0], args[1])"},
				{"builtin.go", 250, 250, "deleteKey(args[0], args[1])"},
				{"builtin.go", 380, 380, "deleteKey(arg0, arg1)"},
			},
		},
		{
			Why:  "min and max ignore a NaN after the first argument, the sign of zero, and uintptr.",
			Test: "cells.TestSequences/identity/min and max of NaN, zeros and every kind",
			Edits: []Edit{
				{"builtin.go", 618, 644, "return makeMinMax(ir, ia, greatest)"},
				{"builtin.go", 646, 672, "return makeMinMax(ir, ia, least)"},
			},
		},
		{
			Why:  "Each program makes types of its own for those that a generic function declares: values of two cells never have identical types.",
			Test: "cells.TestSequences/identity/local types of generic functions across cells",
			Edits: []Edit{
				{"typeparam.go", 89, 88, "r.instances = append(r.instances, fn)"},
				{"typeparam.go", 94, 93, "r.instances = r.instances[:len(r.instances)-1]"},
				{"xtypes.go", 193, 192, "instances []*ssa.Function // generic functions whose instances are being compiled, the innermost last"},
				{"xtypes.go", 354, 353, "if rt, nested, ok := r.localType(t); ok {\n\t\treturn rt, nested\n\t}"},
				{"xtypes.go", 377, 376, "r.keepLocalType(t, typ)"},
			},
		},
		{
			Why:   "The name of a generic type of the library has the name of its source: %T of an iter.Seq[int] is iter@patch.Seq[int].",
			Test:  "cells.TestSequences/users/names of generic types of the library, and a channel of a wrong size",
			Edits: []Edit{{"typeparam.go", 115, 115, "pkgpath = strings.TrimSuffix(pkg.Path(), \"@patch\")"}},
		},
		{
			Why:  "The panic of make for a channel says runtime error: before its text, which Go's does not.",
			Test: "cells.TestSequences/users/names of generic types of the library, and a channel of a wrong size",
			Edits: []Edit{
				{"opblock.go", 521, 521, "panic(fr.plainError(instr, \"makechan: size out of range\"))"},
				{"opblock.go", 531, 531, "panic(fr.plainError(instr, \"makechan: size out of range\"))"},
			},
		},
		{
			Why:   "Structs that embed the same type at the same field share its methods, with the layout of the first of them: another one's fields are read and written at wrong places.",
			Test:  "cells.TestSequences/types/structs of other layouts embed one compiled type",
			Edits: []Edit{{"xtypes.go", 594, 594, ""}},
		},
		{
			Why:  "Only types of a session have their promoted methods corrected: in a struct that a generic function declares, log.Logger.Fatal ends the program, and a method of a value behind a pointer panics.",
			Test: "cells.TestSequences/types/promoted methods of structs in generic functions",
			Edits: []Edit{
				{"xtypes.go", 390, 389, "r.promote(t, typ)"},
				{"xtypes.go", 452, 451, "r.promote(t, typ)"},
			},
		},
		{
			Why:  "A type that is made cannot get methods, so a method of a later cell needs another type: values of the old one fail assertions.",
			Test: "cells.TestSequences/reruns/errors.As finds a type that gets a method",
			Edits: []Edit{
				{"xtypes.go", 192, 191, "growing   *growth         // set while Grow runs"},
				{"xtypes.go", 374, 374, "} else {\n\ttyp = reflectx.WithRoom(typ)\n}"},
				{"xtypes.go", 605, 607, "err := r.putMethods(typ, ms)"},
			},
		},
		{
			Why:  "A shift or a remainder of two constants is computed while the function is compiled, where a negative count or a zero panics: the cell ends with an internal error.",
			Test: "cells.TestSequences/compared/integer widths, overflow, shifts and conversions",
			Edits: []Edit{
				{"opblock.go", 408, 408, "return panicsLater(makeBinOpQUO, pfn, instr)"},
				{"opblock.go", 410, 410, "return panicsLater(makeBinOpREM, pfn, instr)"},
				{"opblock.go", 432, 432, "return panicsLater(makeBinOpSHL, pfn, instr)"},
				{"opblock.go", 434, 434, "return panicsLater(makeBinOpSHR, pfn, instr)"},
			},
		},
		{
			Why:   "recover takes the frame of a wrapper (a method value, a method expression, a promoted method) for that of the function that defers: it returns nil.",
			Test:  "cells.TestSequences/language/deferred method values and expressions recover",
			Edits: []Edit{{"interp.go", 1122, 1124, recoverThroughWrappers}},
		},
		{
			Why:  "A deferred function value of another interpreter, or one that reflection has made, does not recover, and one that a deferred compiled function calls does.",
			Test: "cells.TestSequences/reruns/deferred functions of earlier cells and of reflection recover",
			Edits: []Edit{
				{"interp.go", 202, 201, "outside bool   // code outside of the interpreter has called the function\nby      *frame // that has deferred this call"},
				{"interp.go", 513, 513, "fr._panic = &_panic{arg: recover(), link: fr.passing(fr._panic)}"},
				{"interp.go", 524, 524, "fr.callDeferred(d)"},
			},
		},
		{
			Why:   "Deferred calls that bytecode has recorded are in no list of a frame: the debugger takes a recovered panic for an uncaught one.",
			Test:  "cells.TestDebugCaughtPanics",
			Edits: []Edit{{"interp.go", 202, 201, "recorder interface{ List(*frame) } // puts deferred calls that it has recorded into _defer, nil if there is none"}},
		},
		{
			Why:   "runtime.GC fails for the frame of a call that bytecode executes, which has no values until something needs them.",
			Test:  "cells.TestSequences/language/runtime.GC in nested calls",
			Edits: []Edit{{"runtime.go", 338, 338, "if len(fr.stack) > 0 {\n\tfr.gc()\n}"}},
		},
		{
			Why:   "make of a slice with a capacity below its length panics with a text of package reflect, and one beyond the address space with words of the allocator.",
			Test:  "cells.TestSequences/statements/make out of range",
			Edits: []Edit{{"opblock.go", 563, 562, "checkMake(fr, instr, typ, Len, Cap)"}},
		},
		{
			Why:   "A misused range function panics with a text of package ssa, and not with a runtime error.",
			Test:  "cells.TestSequences/reruns/misuse of a range function",
			Edits: []Edit{{"opblock.go", 911, 910, "if misused := misusedRange(pfn, instr); misused != nil {\n\treturn misused\n}"}},
		},
		{
			Why:   "The panic of an instruction to which package ssa gives no position, such as a method value of a nil pointer, names no line.",
			Test:  "cells.TestSequences/users/places of instructions without a position",
			Edits: []Edit{{"opblock.go", 193, 193, "return positionOf(instr)"}},
		},
		{
			Why:   "Package reflectx does not know which methods of a struct are promoted: one that compiled code calls through a nil pointer panics with other words.",
			Test:  "cells.TestSequences/users/methods of values through nil pointers in compiled code",
			Edits: []Edit{{"xtypes.go", 603, 603, "ms[i].FuncId = mid\nms[i].Promoted = len(idx) > 1"}},
		},
		{
			Why:  "m[k] op= v reads the element first: a nil map and a key that cannot be hashed panic with the words of a read.",
			Test: "cells.TestSequences/users/assignments with an operation to elements of maps",
			Edits: []Edit{
				{"opblock.go", 658, 657, "assigned := readsToAssign(instr)"},
				{"opblock.go", 661, 661, "vm := reflect.ValueOf(m)\nif assigned {\n\tcheckAssigned(vm, idx)\n}"},
			},
		},
		{
			Why:   "A panic formats the stacks of the runtime, and ixgo does not use the text: 80 of 90 µs.",
			Test:  "engine.TestObjects",
			Edits: []Edit{{"opblock.go", 914, 914, "var err error = PanicError{Value: fr.reg(ix)}"}},
		},
		{
			Why:  "A deferred call makes a Go function of its closure, and notes its frame for compiled code although nothing panics.",
			Test: "engine.TestObjects",
			Edits: []Edit{
				{"opblock.go", 497, 496, "if onlyCalled(instr) {\n\tinterp.loadFunction(fn)\n\treturn nil\n}"},
				{"interp.go", 541, 551, "fr.runDeferred()"},
			},
		},
		{
			Why:   "defer recover() swallows interrupts and os.Exit.",
			Test:  "cells.TestSequences/language/defer recover()",
			Edits: []Edit{{"builtin.go", 298, 298, "deferredRecover(fr)"}},
		},
		{
			Why:  "Functions of imported packages cannot be stopped, and a panic in one of their goroutines ends the process.",
			Test: "cells.TestStopInsidePackages",
			Edits: []Edit{
				{"context.go", 109, 108, "Hooks *Hooks"},
				{"opblock.go", 680, 738, "return makeSelect(interp, pfn, instr)"},
				{"opblock.go", 923, 922, "h := pfn.hooks()"},
				{"opblock.go", 926, 926, startGoroutine},
				{"opblock.go", 956, 955, "h := pfn.hooks()"},
				{"opblock.go", 961, 961, "h.send(ch, reflect.New(ch.Type().Elem()).Elem())"},
				{"opblock.go", 963, 963, "h.send(ch, reflect.ValueOf(x))"},
				{"unop_x.go", 81, 80, "h := pfn.hooks()"},
				{"unop_x.go", 103, 103, "v, ok := h.recv(x)"},
				{"unop_x.go", 112, 112, "v, ok := h.recv(x)"},
				{"visit.go", 407, 407, "if index == 0 {\n\tifn = pfn.hooks().looking(b, ifn)\n}\nInstrs[index] = ifn"},
			},
		},
		{
			Why:   "A recursion fills the stack of its goroutine, which ends the process.",
			Test:  "cells.TestRecursionIsAPanic",
			Edits: []Edit{{"opblock.go", 151, 150, "checkStack(caller)"}},
		},
		{
			Why:  "The panic of a deep recursion with deferred calls takes minutes: each frame panics again from a deferred function of Go, and describes all frames.",
			Test: "cells.TestRecursionIsAPanic",
			Edits: []Edit{
				{"interp.go", 1074, 1111, "fr.unwinding()"},
				{"runtime.go", 95, 95, "for caller.valid() && len(pcs) < mostFrames {"},
			},
		},
		{
			Why:  "A compiled method that the user of a Context has replaced is still called through an interface, and nothing tells where a blocked function waits.",
			Test: "cells.TestWaitsEnd",
			Edits: []Edit{
				{"opblock.go", 1225, 1225, "ext, found = interp.methodOf(rtype, mname)"},
				{"interp.go", 656, 656, "ext, ok := i.methodOf(rtype, mname)"},
				{"opblock.go", 355, 354, "if h := interp.ctx.Hooks; h != nil && ok {\n\text = h.Compiled(ext)\n}"},
				{"interp.go", 1316, 1316, "fr, end := i.root()\ndefer end()"},
			},
		},
		{
			Why:   "A panic in a function value or a method that other code calls on a goroutine of its own ends the process.",
			Test:  "cells.TestCallbackPanics",
			Edits: []Edit{{"interp.go", 733, 733, "fr.entered()\ni.enter(fr)"}},
		},
		{
			Why:   "A panic in a function that an imported package calls on a goroutine of its own is a success for that package: Wait of an errgroup returns nil.",
			Test:  "cells.TestPanicInsidePackages",
			Edits: []Edit{{"opblock.go", 1162, 1162, "return pfn.hooks().guarded(dynamicFunCall(interp, iv, ir, ia), interp, call.Signature(), ir)"}},
		},
		{
			Why:  "A caller keeps its callee's frame, which a later call may get from the pool: a panic follows links that have become a circle and never ends.",
			Test: "cells.TestPanicInsidePackages",
			Edits: []Edit{
				{"opblock.go", 158, 158, "fr.pred = 0\nfr.callee, fr.outside, fr.by = nil, false, nil"},
				{"opblock.go", 173, 177, "caller.callee = nil\nif atomic.LoadInt32(&p.cached) == 1 {\n\tp.pool.Put(fr)\n}"},
			},
		},
		{
			Why:  "A package whose types were met in another one before it was imported is read again from GOROOT: there are two of its path, and *image.RGBA is no image.Image.",
			Test: "cells.TestSequences/programs/images after plots",
			Edits: []Edit{
				{"rtypes.go", 168, 168, "if p, ok := r.packages[path]; ok && !r.met(p) {"},
				{"rtypes.go", 184, 184, "p := r.begin(pkg)"},
			},
		},
		{
			Why:  "A package is imported with all that its source imports: fmt makes the types of os and reflect, and checks the source of slices.",
			Test: "engine.TestImportsAreLazy",
			Edits: []Edit{
				{"rtypes.go", 186, 188, ""},
				{"rtypes.go", 375, 376, "name = NameOf(pkg)"},
			},
		},
		{
			Why:  "A function that looks at its caller has another type as a value, and cannot be deferred: f := runtime.Caller and defer debug.PrintStack() panic.",
			Test: "cells.TestSequences/language/functions that look at their callers as values",
			Edits: []Edit{
				{"opblock.go", 240, 240, "vs = p.Interp.asValue(ext, v).Interface()"},
				{"interp.go", 627, 627, "fv = i.asValue(ext, f)"},
			},
		},
		{
			Why:  "The sequences that compiled functions return have types of their own: slices.Collect(strings.SplitSeq(s, sep)) does not compile.",
			Test: "cells.TestSequences/language/sequences of compiled functions",
			Edits: []Edit{
				{"rtypes.go", 153, 152, "if rt, ok := compiledSequence(typ); ok {\n\tr.tcache.Set(typ, rt)\n\treturn rt, true\n}"},
				{"rtypes.go", 425, 424, "if t := r.sequence(rt); t != nil {\n\treturn t\n}"},
			},
		},
		{
			Why:  "A type whose name in a package is an alias of a type of another one is missing: json.RawMessage since Go 1.27.",
			Test: "cells.TestSequences/identity/assertions and switches match identical types",
			Edits: []Edit{
				{"rtypes.go", 274, 274, "r.insertNamed(p, name, rt)"},
				{"rtypes.go", 278, 278, "r.insertNamed(p, name, rt)"},
			},
		},
	},
}, {
	path: "github.com/goplus/reflectx", version: "v1.7.2", added: "reflectx",
	linked: []string{"icall"}, // 10 MB of method entries
	sums: map[string]string{
		"internal/abi/map_swiss.go": "0353bde89a2727c595f073370caec1dacb4d8441b23f1b2efa35a8f1ab2c865f",
		"methodof.go":               "19907bba946bac079335d1e5d7f563a66f8e8ba1e36b929b9279379e887e4504",
		"rtype.go":                  "fd74079fa624feaaa64eb55a7db1d8f96914fb291e4df55a3f44a6d7a6aad101",
		"map_go124.go":              "6b379a6f24db0aeacd431189b35ede59231db86ce738a2fdfa2fedaca999aa3e",
		"type.go":                   "3f38079c6c070bf28d83d9018fc68c7bfd1ebbacca9b51bbd3d2d907e7f1b00a",
	},
	fixes: []Fix{
		{
			Why:  "Compiled code that calls a method through reflect.Type, as net/rpc does, jumps to data: the session is lost.",
			Test: "cells.TestSequences/programs/rpc with methods of cell types",
			Edits: []Edit{
				{"methodof.go", 271, 271, ""},
				{"methodof.go", 277, 277, "pms[i].Ifn = resolveReflectText(pifn)\npms[i].Tfn = keepFunction(mname, true, ptfn, pifn, onePtr)"},
				{"methodof.go", 307, 307, "ms[index].Tfn = keepFunction(mname, false, tfn, ifn, onePtr)"},
				{"rtype.go", 341, 341, "tfn := rtype_textOff(t, functionOf(t, p.Name, p.Tfn))"},
			},
		},
		{
			Why:  "A method of values that is called with a pointer is found by its number among the exported methods: an unexported one is another method, or none.",
			Test: "cells.TestSequences/reruns/an unexported method through a pointer to an unnamed struct in a later cell",
			Edits: []Edit{
				{"methodof.go", 152, 169, "ptfn = throughPointer(ctyp, typ, m)"},
			},
		},
		{
			Why:  "Compiled code that calls a method of values through a nil pointer gets a panic of package reflect, which is a string.",
			Test: "cells.TestSequences/users/methods of values through nil pointers in compiled code",
			Edits: []Edit{
				{"methodof.go", 258, 258, "Func:     ofPointer(mfn, typ, m),"},
				{"methodof.go", 264, 264, ""},
				{"type.go", 125, 124, "Promoted bool // from an embedded field"},
			},
		},
		{
			Why:   "A value that an interface holds as one pointer, and that is no struct with one field that is a pointer, as struct{ f func() }, gives compiled code a wrong receiver.",
			Test:  "cells.TestSequences/types/values that interfaces hold as one pointer",
			Edits: []Edit{{"methodof.go", 227, 233, "onePtr := totype(typ).IsDirectIface()"}},
		},
		{
			Why:  "A named struct whose fields are all exported has a package path as struct, which an unnamed one lacks: reflect converts none to the other.",
			Test: "cells.TestSequences/identity/reflect converts structs with exported fields",
			Edits: []Edit{
				{"rtype.go", 40, 40, "st.Fields, st.PkgPath = ost.Fields, ost.PkgPath"},
				{"rtype.go", 376, 378, ""},
			},
		},
		{
			Why:  "A struct with an embedded field and one with a field of that name share their fields: JSON of struct{ A A } is that of struct{ A }, and the text of both has the name.",
			Test: "cells.TestSequences/types/embedded fields beside fields of their names",
			Edits: []Edit{
				{"rtype.go", 394, 394, "f.Anonymous = false\nf.Tag += embeddedTag"},
				{"rtype.go", 411, 411, "embed(&st.Fields[i], fs[i].Name, fields[i].Tag)"},
				{"rtype.go", 416, 415, "if len(anonymous)+len(underscore) > 0 {\n\tnameStruct(rt, fields)\n}"},
			},
		},
		{
			Why:  "The memory of a type has no room for methods that are added later.",
			Test: "cells.TestSequences/reruns/errors.As finds a type that gets a method",
			Edits: []Edit{
				{"methodof.go", 337, 338, "rt, _ := newType(\"\", \"\", styp, roomOf(maxmfunc), 0)\nprt, _ := newType(\"\", \"\", PtrTo(styp), roomOf(maxpfunc), 0)\nkeepRoom(rt, maxmfunc)\nkeepRoom(prt, maxpfunc)"},
			},
		},
		{
			Why:  "Go 1.27 describes the slots of a map with other fields, so that methods of named maps are read from the wrong place. Each layout is a file of its version.",
			Test: "engine.TestLayouts",
			Edits: []Edit{
				{"internal/abi/map_swiss.go", 42, 44, "mapSlots"},
				{"map_go124.go", 5, 14, ""},
			},
		},
	},
}}

// startGoroutine leaves the goroutine of a go statement to the hooks.
const startGoroutine = `if h != nil {
	root := &frame{interp: interp}
	h.Go(root, func() {
		interp.callDiscardsResult(root, fn, args, instr.Call.Args)
		atomic.AddInt32(&interp.goroutines, -1)
	})
} else if interp.ctx.RunContext != nil {`

const recoverThroughWrappers = `		deferring(caller) != nil {
		p := deferring(caller).recovers(caller.pfn.Fn)`

const setResults = "caller.setResults(ir, fr.stack[:pfn.nres])"

const compareMixed = `if f := compareMixed(instr, ir, ix, iy, xtyp, ytyp); f != nil {
	return f
}`
