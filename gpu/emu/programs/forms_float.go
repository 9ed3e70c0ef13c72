package programs

import (
	"fmt"
	"strings"
)

var (
	directions = []string{".rn", ".rz", ".rm", ".rp"}
	flushing   = []string{"", ".ftz"}
)

func (l *list) floats() {
	for _, z := range flushing {
		for _, d := range directions {
			for _, s := range []string{"", ".sat"} {
				for _, op := range []string{"add", "sub", "mul"} {
					l.add("f32 f32 f32", "%s%s%s%s.f32 %%d, %%a, %%b;", op, d, z, s)
				}
				l.add("f32 f32 f32 f32", "fma%s%s%s.f32 %%d, %%a, %%b, %%c;", d, z, s)
			}
			l.add("f32 f32 f32", "div%s%s.f32 %%d, %%a, %%b;", d, z)
			l.add("f32 f32", "rcp%s%s.f32 %%d, %%a;", d, z)
			l.add("f32 f32", "sqrt%s%s.f32 %%d, %%a;", d, z)
		}
		for _, op := range []string{"neg", "abs"} {
			l.add("f32 f32", "%s%s.f32 %%d, %%a;", op, z)
		}
		for _, op := range []string{"min", "max"} {
			l.add("f32 f32 f32", "%s%s.f32 %%d, %%a, %%b;", op, z)
			l.add("f32 f32 f32", "%s%s.NaN.f32 %%d, %%a, %%b;", op, z)
			l.add("f32 f32 f32", "%s%s.xorsign.abs.f32 %%d, %%a, %%b;", op, z)
		}
		l.add("b32 f32 f32 f32", "slct%s.b32.f32 %%d, %%a, %%b, %%c;", z)
	}
	l.add("f32 f32 f32", "copysign.f32 %%d, %%a, %%b;")
}

func (l *list) doubles() {
	for _, d := range directions {
		for _, op := range []string{"add", "sub", "mul", "div"} {
			l.add("f64 f64 f64", "%s%s.f64 %%d, %%a, %%b;", op, d)
		}
		l.add("f64 f64 f64 f64", "fma%s.f64 %%d, %%a, %%b, %%c;", d)
		l.add("f64 f64", "rcp%s.f64 %%d, %%a;", d)
		l.add("f64 f64", "sqrt%s.f64 %%d, %%a;", d)
	}
	for _, op := range []string{"min", "max", "copysign"} {
		l.add("f64 f64 f64", "%s.f64 %%d, %%a, %%b;", op)
	}
	l.add("f64 f64", "abs.f64 %%d, %%a;")
	l.add("f64 f64", "neg.f64 %%d, %%a;")
}

func (l *list) comparisons() {
	for _, c := range []string{"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"} {
		for _, z := range flushing {
			l.add("b32 f32 f32", "{ .reg .pred p; setp.%s%s.f32 p, %%a, %%b; selp.b32 %%d, 1, 0, p; }", c, z)
			l.add("b32 f32 f32", "set.%s%s.u32.f32 %%d, %%a, %%b;", c, z)
			l.add("f32 f32 f32", "set.%s%s.f32.f32 %%d, %%a, %%b;", c, z)
		}
		l.add("b32 f64 f64", "{ .reg .pred p, q; setp.%s.f64 p|q, %%a, %%b; selp.b32 %%d, 1, 0, q; }", c)
		l.add("b32 f16 f16", "{ .reg .pred p; setp.%s.f16 p, %%a, %%b; selp.b32 %%d, 1, 0, p; }", c)
		l.add("b32 f16 f16", "{ .reg .pred p; setp.%s.bf16 p, %%a, %%b; selp.b32 %%d, 1, 0, p; }", c)
		l.add("b32 f16x2 f16x2", "set.%s.f16x2.f16x2 %%d, %%a, %%b;", c)
	}
	for _, b := range []string{"and", "or", "xor"} {
		for _, t := range []string{"s32", "u32"} {
			l.add("b32 b32 b32 b32", "{ .reg .pred p, q; setp.ne.s32 p, %%c, 0; setp.lt.%s.%s p|q, %%a, %%b, !p; selp.b32 %%d, 1, 2, p; @q add.u32 %%d, %%d, 4; }", b, t)
		}
		l.add("b32 f32 f32 f32", "{ .reg .pred p; setp.gt.f32 p, %%c, %%a; setp.leu.%s.f32 p, %%a, %%b, p; selp.b32 %%d, 1, 2, p; }", b)
	}
	for _, k := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
		for _, t := range []string{"f32", "f64"} {
			l.add("b32 "+t, "{ .reg .pred p; testp.%s.%s p, %%a; selp.b32 %%d, 1, 0, p; }", k, t)
		}
	}
}

// value is the type of a register for an integer or float type.
func value(t string) string {
	switch t {
	case "u8", "s8":
		return "b32"
	case "f16", "bf16":
		return "f16"
	case "f32", "f64":
		return t
	}
	return "b" + t[1:]
}

// overflows reports whether an integer type has values outside of another.
func overflows(from, to string) bool {
	if from[0] == 's' && to[0] == 'u' {
		return true
	}
	room := bytesOf(to) - bytesOf(from)
	return room < 0 || room == 0 && from[0] != to[0]
}

func (l *list) conversions() {
	ints := []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}
	for _, s := range ints {
		for _, d := range ints {
			if d != s {
				l.add(value(d)+" "+value(s), "cvt.%s.%s %%d, %%a;", d, s)
				if overflows(s, d) {
					l.add(value(d)+" "+value(s), "cvt.sat.%s.%s %%d, %%a;", d, s)
				}
			}
		}
		for _, f := range []string{"f16", "f32", "f64"} {
			for _, r := range directions {
				l.add(value(f)+" "+value(s), "cvt%s.%s.%s %%d, %%a;", r, f, s)
				l.add(value(s)+" "+value(f), "cvt%si.%s.%s %%d, %%a;", r, s, f)
				if f == "f32" {
					l.add(value(s)+" "+value(f), "cvt%si.ftz.%s.%s %%d, %%a;", r, s, f)
				}
			}
		}
		if bytesOf(s) > 1 {
			l.add("f16 "+value(s), "cvt.rn.bf16.%s %%d, %%a;", s)
			l.add(value(s)+" f16", "cvt.rzi.%s.bf16 %%d, %%a;", s)
		}
	}
	l.floatConversions()
}

// floatConversions are those between float types.
func (l *list) floatConversions() {
	for _, r := range directions {
		for _, x := range []string{"", ".ftz", ".sat"} {
			l.add("f32 f64", "cvt%s%s.f32.f64 %%d, %%a;", r, x)
			l.add("f32 f32", "cvt%si%s.f32.f32 %%d, %%a;", r, x)
		}
		l.add("f16 f32", "cvt%s.f16.f32 %%d, %%a;", r)
		l.add("f16 f64", "cvt%s.f16.f64 %%d, %%a;", r)
		l.add("f64 f64", "cvt%si.f64.f64 %%d, %%a;", r)
		l.add("f16 f16", "cvt%si.f16.f16 %%d, %%a;", r)
	}
	for _, x := range []string{"f32 f32 sat.f32.f32", "f32 f32 ftz.f32.f32", "f64 f64 sat.f64.f64", "f64 f32 f64.f32", "f64 f32 ftz.f64.f32",
		"f32 f16 f32.f16", "f64 f16 f64.f16", "f16 f32 rn.sat.f16.f32", "f32 f16 f32.bf16",
		"f16 f32 rn.bf16.f32", "f16 f32 rz.bf16.f32", "f16 f32 rn.relu.bf16.f32", "f16 f32 rn.relu.f16.f32", "b32 f32 rna.tf32.f32"} {
		var d, a, name string
		fmt.Sscan(x, &d, &a, &name)
		l.add(d+" "+a, "cvt.%s %%d, %%a;", name)
	}
	for _, t := range []string{"f16x2", "bf16x2"} {
		for _, r := range []string{"rn", "rz", "rn.relu", "rz.relu"} {
			l.add("b32 f32 f32", "cvt.%s.%s.f32 %%d, %%a, %%b;", r, t)
		}
	}
}

// halves are the instructions on 16-bit floats and pairs of them.
func (l *list) halves() {
	for _, t := range []string{"f16", "bf16", "f16x2", "bf16x2"} {
		v := "f16"
		if t[len(t)-2:] == "x2" {
			v = "f16x2"
		}
		ftz := flushing
		if t[0] == 'b' {
			ftz = ftz[:1]
		}
		for _, z := range ftz {
			for _, op := range []string{"add.rn", "sub.rn", "mul.rn"} {
				l.add(v+" "+v+" "+v, "%s%s.%s %%d, %%a, %%b;", op, z, t)
				if t[0] == 'f' {
					l.add(v+" "+v+" "+v, "%s%s.sat.%s %%d, %%a, %%b;", op, z, t)
				}
			}
			for _, x := range []string{"", ".relu"} {
				l.add(v+" "+v+" "+v+" "+v, "fma.rn%s%s.%s %%d, %%a, %%b, %%c;", z, x, t)
			}
			for _, op := range []string{"neg", "abs"} {
				l.add(v+" "+v, "%s%s.%s %%d, %%a;", op, z, t)
			}
			for _, op := range []string{"min", "max"} {
				for _, x := range []string{"", ".NaN"} {
					l.add(v+" "+v+" "+v, "%s%s%s.%s %%d, %%a, %%b;", op, z, x, t)
				}
			}
		}
	}
}

// atomics are updates of a thread's own word, in shared and in global memory.
func (l *list) atomics() {
	for _, space := range []string{"shared", "global"} {
		at := map[string]string{"shared": "%own", "global": "%far"}[space]
		for _, op := range []string{"add.u32", "add.u64", "min.u32", "min.s32", "min.u64", "min.s64", "max.u32", "max.s32", "max.u64", "max.s64",
			"and.b32", "and.b64", "or.b32", "or.b64", "xor.b32", "xor.b64", "inc.u32", "dec.u32",
			"add.f32", "add.f64", "add.noftz.f16", "add.noftz.f16x2", "add.noftz.bf16", "add.noftz.bf16x2"} {
			typ := op[strings.LastIndexByte(op, '.')+1:]
			v := map[string]string{"u32": "b32", "s32": "b32", "u64": "b64", "s64": "b64", "bf16": "f16", "bf16x2": "f16x2"}[typ]
			if v == "" {
				v = typ
			}
			bits := bitsOf(registerType(v))
			l.add(v+" "+v+" "+v, "st.%s.%s [%s], %%a; red.%s.%s [%s], %%b; ld.%s.%s %%d, [%s];", space, bits, at, space, op, at, space, bits, at)
		}
		for _, t := range []string{"b16", "b32", "b64"} {
			l.add(t+" "+t+" "+t+" "+t, "st.%s.%s [%s], %%a; atom.%s.cas.%s %%d, [%s], %%b, %%c; ld.%s.%s %%d, [%s];", space, t, at, space, t, at, space, t, at)
		}
	}
}

// pairs are the instructions on two 16-bit integers in a register.
func (l *list) pairs() {
	for _, t := range []string{"u16x2", "s16x2"} {
		for _, op := range []string{"add", "min", "max"} {
			l.add("b32 b32 b32", "%s.%s %%d, %%a, %%b;", op, t)
		}
	}
}

// approximations are the functions that a GPU computes with tables.
func (l *list) approximations() {
	for _, z := range flushing {
		for _, op := range []string{"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"} {
			l.approx("f32 f32", "%s.approx%s.f32 %%d, %%a;", op, z)
		}
		l.approx("f32 f32 f32", "div.full%s.f32 %%d, %%a, %%b;", z)
		l.approx("f32 f32 f32", "div.approx%s.f32 %%d, %%a, %%b;", z)
	}
	l.approx("f32 f32", "tanh.approx.f32 %%d, %%a;")
	l.approx("f64 f64", "rsqrt.approx.f64 %%d, %%a;")
	l.approx("f64 f64", "rcp.approx.ftz.f64 %%d, %%a;")
	l.approx("f64 f64", "rsqrt.approx.ftz.f64 %%d, %%a;")
	for _, t := range []string{"f16", "bf16"} {
		ftz := map[string]string{"bf16": ".ftz"}[t]
		l.approx("f16 f16", "ex2.approx%s.%s %%d, %%a;", ftz, t)
		l.approx("f16 f16", "tanh.approx.%s %%d, %%a;", t)
	}
}
