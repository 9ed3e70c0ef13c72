package ptx

import (
	"errors"
	"strings"
	"testing"
)

// TestBodyErrors: the statements start at line 6, column 1.
func TestBodyErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		// Punctuation.
		{"add.u32 %r1, %r1, 1\nld.global.u32 %r1, [%rd1];", "7:1: expected ';' after instruction, found 'ld'"},
		{"add.u32 %r1, %r1 1;", "6:18: expected ';' after instruction, found '1'"},
		{"add.u32 %r1, , 1;", "6:14: expected an operand, found ','"},
		{"add.u32 %r1, ;", "6:14: expected an operand after ',', found ';'"},
		{"add.u32 %r1, .u32;", "6:14: expected an operand, found '.u32'"},
		{";", "6:1: expected an instruction, a label, a directive or '}', found ';'"},
		{"\"x\"", "6:1: expected an instruction, a label, a directive or '}', found \"x\""},
		{"@%p1;", "6:5: expected a name of an instruction, found ';'"},
		{"@5 exit;", "6:2: expected a name of a predicate after '@', found '5'"},
		{"mov.b64 {%r1, %r2, %rd1;", "6:24: expected ',' or '}', found ';'"},
		{"mov.b64 {%r1, %r2,}, %rd1;", "6:19: expected more after ',', found '}'"},
		{"call (%r1, k;", "6:13: expected ',' or ')', found ';'"},
		{"exit }", "6:6: expected ';' after instruction, found '}'"},
		{"add.u32 %r1, }", "6:14: expected an operand after ',', found '}'"},
		{"ld.u32 %r1, [%rd1;", "6:18: expected ']' after the address, found ';'"},
		{"ld.u32 %r1, [%rd1-4];", "6:18: expected '+-' and an offset, found '-'"},
		{"ld.u32 %r1, [4+%rd1];", "6:16: expected a constant, found '%rd1'"},
		{"ld.u32 %r1, [];", "6:14: expected a constant, found ']'"},
		{"ld.u32 %r1, [g+1.5];", "6:15: a float, expected an integer"},
		{"setp.u32 %p1|5, %r1, %r2;", "6:14: expected a name of a register after '|', found '5'"},
		{"mov.u32 %r1, (1 + 2;", "6:20: expected ')' in the expression, found ';'"},
		{"mov.u32 %r1, 1 ? 2;", "6:19: expected ':' in the conditional expression, found ';'"},
		{"mov.u32 %r1, #;", "6:14: a character that PTX does not use"},
		{"mov.u32 %r1, é;", "6:14: a character that PTX does not use"},
		{"/* exit;", "6:1: a comment without its '*/'"},
		{".pragma \"x;\n", "6:9: a string without its closing quote"},
		// Numbers.
		{"mov.u32 %r1, 09;", "6:14: malformed number '09', or beyond 64 bits"},
		{"mov.u32 %r1, 5u;", "6:14: malformed number '5u', or beyond 64 bits"},
		{"mov.u32 %r1, 0x;", "6:14: malformed number '0x', or beyond 64 bits"},
		{"mov.u32 %r1, 1_0;", "6:14: malformed number '1_0', or beyond 64 bits"},
		{"mov.u32 %r1, 99999999999999999999;", "6:14: malformed number '99999999999999999999', or beyond 64 bits"},
		{"mov.f32 %f1, 0f3f8;", "6:14: malformed float '0f3f8', expected 0f and 8 hexadecimal digits"},
		{"mov.f32 %f1, 1e999;", "6:14: malformed number '1e999'"},
		{"mov.f32 %f1, 1.5.2;", "6:14: malformed number '1.5.2'"},
		{"mov.u32 %r1, 1 / 0;", "6:16: division by 0"},
		{"mov.u32 %r1, 1 % (2 - 2);", "6:16: division by 0"},
		{"mov.f32 %f1, 1.5 << 2;", "6:18: operator '<<' of floats, expected integers"},
		{"mov.f32 %f1, ~1.5;", "6:14: operator '~' of a float, expected an integer"},
		{"mov.f32 %f1, (.f32)1;", "6:15: cast to '.f32', expected .s64 or .u64 of an integer"},
		// Names.
		{"mov.u32 %r1, %r9;", "6:14: undefined register '%r9'"},
		{"mov.u32 %r1, %r01;", "6:14: undefined register '%r01'"},
		{"mov.u32 %x, 1;", "6:9: undefined register '%x'"},
		{"mov.u32 %r1, x2;", "6:14: undefined name 'x2', expected a label, variable or function"},
		{"bra L1;", "6:5: undefined name 'L1', expected a label, variable or function"},
		{"bra L; { L: exit; }", "6:5: undefined name 'L', expected a label, variable or function"},
		{"{ .reg .b32 t; } mov.u32 t, 1;", "6:26: undefined name 't', expected a label, variable or function"},
		{"ld.u32 %r1, [y];", "6:14: undefined name 'y' in an address, expected a register or variable"},
		{"ld.u32 %r1, [%r1.b0];", "6:14: part or vector '%r1' as an address, expected a whole register"},
		{"ld.u32 %r1, [v];", "6:14: part or vector 'v' as an address, expected a whole register"},
		{"L: mov.u64 %rd1, L+4;", "6:18: label 'L' with an offset, expected a variable"},
		{"setp.u32 %p1|%q, %r1, 0;", "6:14: undefined register '%q'"},
		{"setp.u32 %p1, %r1, 0, !L; L:", "6:23: '!' before something else than a register"},
		{"@%q exit;", "6:2: undefined register '%q'"},
		{"@%r1 exit;", "6:2: guard '%r1' of type .b32, expected .pred"},
		{"mov.u32 %r1, %laneid.x;", "6:21: special register '%laneid' has no component '.x'"},
		{"mov.u32 %r1, %tid.q;", "6:18: special register '%tid' has no component '.q'"},
		{"mov.f32 %f1, v.z;", "6:15: register 'v' has no component '.z'"},
		{"mov.f32 %f1, %f2.x;", "6:17: register '%f2' has no component '.x'"},
		{"T: .branchtargets L1, L2; L1: brx.idx %r1, T;", "6:23: undefined label 'L2'"},
		{"T: .branchtargets g;", "6:19: undefined label 'g'"},
		// Declarations.
		{".reg .b32 %a, %a;", "6:15: duplicate name '%a', declared before at line 6"},
		{".reg .b32 x;", "6:11: duplicate name 'x', declared before at line 4"},
		{".reg .b32 %r3;", "6:11: duplicate name '%r3', also declared by the range of '%r'"},
		{".reg .b32 %z1<3>, %z<20>;", "6:11: duplicate name '%z10', also declared by the range of '%z'"},
		{".reg .b32 %z3; .reg .b32 %z<4>;", "6:11: duplicate name '%z3', also declared by the range of '%z'"},
		{".reg .b32 %r<3>;", "6:11: duplicate name '%r<3>'"},
		{"L: L: exit;", "6:4: duplicate name 'L', declared before at line 6"},
		{".reg .b32 L; L: exit;", "6:14: duplicate name 'L', declared before at line 6"},
		{".reg .b32 _;", "6:11: '_' declared, expected another name"},
		{".reg %a;", "6:6: expected a type such as .b32, found '%a'"},
		{".reg .f99 %a;", "6:6: unknown type '.f99' of a variable, expected one such as .b32"},
		{".reg .b32 .f32 %a;", "6:11: second type '.f32', expected a name after '.b32'"},
		{".reg .b32 %a", "7:1: expected ';' after the registers, found 'ret'"},
		{".reg .b32 %a<x>;", "6:14: expected a number of registers, found 'x'"},
		{".reg .pred %p<1e9>;", "6:15: expected a whole number of registers, found '1e9'"},
		{".reg .pred %p<2.0>;", "6:15: expected a whole number of registers, found '2.0'"},
		{".shared .b32 s[1e3];", "6:16: expected a whole number of elements, found '1e3'"},
		{".reg .b32 %a<3;", "6:15: expected '>' after the number of registers, found ';'"},
		{".shared .pred s;", "6:9: unknown type '.pred' of a variable, expected one such as .b32"},
		{".shared .b32 s[0];", "6:16: array of 0 elements, expected 1 or more and at most 2^40 bytes"},
		{".shared .b32 s[-1];", "6:16: expected a number of elements, found '-'"},
		{".shared .b32 s[1048576][1048576];", "6:25: array of 1048576 elements, expected 1 or more and at most 2^40 bytes"},
		{".shared .b32 s[18446744073709551615];", "6:16: array of 18446744073709551615 elements, expected 1 or more and at most 2^40 bytes"},
		{".shared .b32 s[];", "6:14: array 's' without a size, expected a size, an initial value or .extern"},
		{".shared .b32 s = 1;", "6:14: initial value of 's', expected only for .global and .const"},
		{".shared .align 3 .b32 s;", "6:16: alignment 3, expected a power of 2"},
		{".shared .align 0 .b32 s;", "6:16: alignment 0, expected a power of 2"},
		{".const .b32 x;", "6:13: duplicate name 'x', declared before at line 4"},
		{".entry k2() {}", "6:1: unknown directive '.entry' in a body, expected one such as .reg or .shared"},
		{".loc 1 2\nexit;", "7:1: expected a number after .loc's line, found 'exit'"},
		{".loc 1 2 99999999999", "6:10: number '99999999999', expected an integer below 2^31"},
		{".loc 1 2 3, where 4", "6:13: unknown attribute 'where' of .loc, expected function_name or inlined_at"},
		{"P: .callprototype (.param .b32 _) f ();", "6:35: name 'f' of a prototype, expected '_'"},
	}
	for _, tt := range tests {
		checkError(t, inBody(tt.text), tt.want)
	}
}

func checkError(t *testing.T, text, want string) {
	t.Helper()
	m, err := Parse("t.ptx", text)
	var e *Error
	switch {
	case !errors.As(err, &e) || m != nil:
		t.Errorf("%q: module %v, error %v, want %s", text, m != nil, err, want)
	case err.Error() != "ptx: t.ptx:"+want:
		t.Errorf("%q:\n got %s\nwant ptx: t.ptx:%s", text, err, want)
	}
}

// TestModuleErrors: the text starts at line 4, column 1.
func TestModuleErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"x", "4:1: expected a directive such as .entry or .global, found 'x'"},
		{";", "4:1: expected a directive such as .entry or .global, found ';'"},
		{".bogus", "4:1: unknown directive '.bogus', expected one such as .entry or .global"},
		{".version 8.0", "4:1: '.version' again, expected once at the start"},
		{".visible x", "4:10: expected a state space, .entry or .func after '.visible', found 'x'"},
		{".reg .b32 x;", "4:1: unknown directive '.reg', expected one such as .entry or .global"},
		{".local .b32 x;", "4:8: a .local or .param variable outside a function"},
		{".entry k {", "4:11: expected '}' to close the body of 'k' opened at line 4, found end of text"},
		{".entry k {\n{ exit;", "5:8: expected '}' to close the scope opened at line 5, found end of text"},
		{".entry k { exit; } }", "4:20: expected a directive such as .entry or .global, found '}'"},
		{".entry k", "4:9: expected ';' or a body after the declaration of 'k', found end of text"},
		{".entry k;", "4:8: entry 'k' without a body"},
		{".entry k() {} .entry k() {}", "4:22: duplicate name 'k', declared before at line 4"},
		{".global .b32 k; .entry k() {}", "4:24: duplicate name 'k', declared before at line 4"},
		{".func f() {} .global .b32 f;", "4:27: duplicate name 'f', declared before at line 4"},
		{".func f(.param .b32 a); .func f(.param .b64 a) {}", "4:31: function 'f' with other parameters than declared at line 4"},
		{".func f(.param .b32 a, .param .b32 a) {}", "4:36: duplicate name 'a', declared before at line 4"},
		{".func f(.param .b32 a,) {}", "4:23: expected more after ',', found ')'"},
		{".func f(.global .b32 a) {}", "4:9: '.global', expected .param or .reg"},
		{".func f(.param a) {}", "4:16: expected a type such as .b32, found 'a'"},
		{".func () f() {} .func f() .inline {}", "4:27: unknown directive '.inline' of a function, expected one such as .maxntid, or a body"},
		{".entry k() .maxntid x {}", "4:21: expected a number of threads or blocks, found 'x'"},
		{".alias a, b;", "4:11: alias 'a', expected a .func declared without a body"},
		{".func a(); .alias a, b;", "4:22: alias 'a' of 'b', expected a .func with a body"},
		{".global .b32 a; .global .b32 a;", "4:30: duplicate name 'a', declared before at line 4"},
		{".extern .global .b32 a = 1;", "4:22: initial value of 'a', expected only for .global and .const"},
		{".global .f16 a = 1;", "4:14: initial value of type .f16, expected a type such as .b16 or .b32"},
		{".global .f32 a = 1;", "4:18: an integer as initial value of type .f32, expected a float"},
		{".global .u32 a = 1.5;", "4:18: a float as initial value of type .u32, expected an integer"},
		{".global .u32 a = {1};", "4:18: expected a constant, found '{'"},
		{".global .u32 a[2] = 1;", "4:21: expected '{' before the initial values, found '1'"},
		{".global .u32 a[2] = {1, 2, 3};", "4:28: more initial values of 'a' than 2"},
		{".global .u32 a[2] = {1,};", "4:24: expected more after ',', found '}'"},
		{".global .u32 a[2][2] = {{1, 2}, {3}};", "4:35: 1 initial values of a row or vector, expected 2"},
		{".global .u32 a[2][2] = {1, 2};", "4:25: expected '{' before the initial values, found '1'"},
		{".global .v2 .u32 a = {1};", "4:24: 1 initial values of a row or vector, expected 2"},
		{".global .u32 a[] = {};", "4:14: array 'a' without a size, expected a size, an initial value or .extern"},
		{".global .u32 a[2][] = {{1}};", "4:19: expected a number of elements, found ']'"},
		{".global .u64 a = b; .global .u32 b;", "4:18: undefined name 'b', expected a variable or function declared before"},
		{".global .u32 b; .global .u64 a = b-4;", "4:35: expected '+-' and an offset, found '-'"},
		{".global .u32 b; .global .u16 a = b;", "4:34: address in an element of 2 bytes, expected 4 or 8"},
		{".global .u32 b; .global .u64 a = 0xff(b);", "4:34: mask 0xff of an address in type .u64, expected 0xff, 0xff00 and so on in type .u8"},
		{".global .u32 b; .global .u8 a = 0xff0(b);", "4:33: mask 0xff0 of an address in type .u8, expected 0xff, 0xff00 and so on in type .u8"},
		{".global .u32 a = 1\n.global .u32 b;", "5:1: expected ';' after the declaration, found '.global'"},
		{".section .debug { .b8 1", "4:24: expected '}' after section .debug, found end of text"},
		{".file x", "4:7: expected a number after .file, found 'x'"},
		{".file 1 x", "4:9: expected a string after .file's index, found 'x'"},
		{".global .attribute(.managed .u32 x;", "4:36: expected a type such as .b32, found end of text"},
	}
	for _, tt := range tests {
		checkError(t, prologue+tt.text, tt.want)
	}
}

func TestHeaderErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "1:1: expected '.version' first, found end of text"},
		{"\n\n  ", "3:3: expected '.version' first, found end of text"},
		{".target sm_80", "1:1: expected '.version' first, found '.target'"},
		{"\x7fELF\x02\x01", "1:1: a character that PTX does not use"},
		{"<html>", "1:1: expected '.version' first, found '<'"},
		{strings.Repeat("a", 100), "1:1: expected '.version' first, found '" + strings.Repeat("a", 40) + "...'"},
		{".version x", "1:10: expected a number after .version, found 'x'"},
		{".version 8", "1:10: version '8', expected one such as 7.8"},
		{".version 8.0 .entry", "1:14: expected '.target' after .version, found '.entry'"},
		{".version 8.0 .target 75", "1:22: expected a name such as sm_75 after .target, found '75'"},
		{".version 8.0 .target sm_75,", "1:28: expected a name in .target, found end of text"},
		{".version 8.0 .target sm_75 .address_size 16", "1:42: address size '16', expected 32 or 64"},
	}
	for _, tt := range tests {
		checkError(t, tt.text, tt.want)
	}
}

// TestDepth: nesting beyond the limit is an error, not a deep stack.
func TestDepth(t *testing.T) {
	const deep = 1_000_000
	checkError(t, inBody(strings.Repeat("{", deep)), "6:101: nested more than 100 deep")
	for _, text := range []string{
		"mov.u32 %r1, " + strings.Repeat("(", deep),
		"mov.u32 %r1, " + strings.Repeat("-", deep) + "1;",
		"mov.u32 %r1, " + strings.Repeat("1?", deep) + "1;",
		"mov.b64 " + strings.Repeat("{", deep),
		"call " + strings.Repeat("(", deep),
		"tex.u32 " + strings.Repeat("[g,", deep),
	} {
		if _, err := Parse("t.ptx", inBody(text)); err == nil || !strings.Contains(err.Error(), "nested more than 100 deep") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	dims := ".global .b8 a" + strings.Repeat("[1]", deep) + ";"
	if _, err := Parse("t.ptx", prologue+dims); err == nil || !strings.Contains(err.Error(), "dimensions") {
		t.Errorf("dimensions: %v", err)
	}
}
