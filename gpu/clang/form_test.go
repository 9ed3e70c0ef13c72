package clang

import (
	"strings"
	"testing"

	"warpbook/gpu/compile/compiler"
)

// Messages get NVRTC's form and words; notes, options and the way to a header do not
// become complaints about the cell.
func TestNVRTCForm(t *testing.T) {
	got := nvrtcForm(`In file included from x.cu:1:
/h/mma.h(7,3): error: too old
x.cu(2,6): error: use of undeclared identifier 'y'; did you mean 'x'?
	a = y;
            ^
/h/mma.h(9): note: 'x' declared here
x.cu(3,1): warning: unused variable 'i' [-Wunused-variable]
x.cu(9,1): fatal error: 'none.h' file not found
error: invalid value 'c++99' in '-std=c++99'
2 errors generated when compiling for sm_75.
`, compiler.Request{Name: "x.cu", Text: "#include <mma.h>\n\ta = y;\nint i;"})
	want := "/h/mma.h(7): error: too old\n\n" +
		"x.cu(2): error: identifier \"y\" is undefined\n  \ta = y;\n       ^\n\n" +
		"x.cu(3): warning: variable \"i\" was declared but never referenced\n  int i;\n  ^\n\n" +
		"x.cu(9): catastrophic error: cannot open source file \"none.h\"\n\n" +
		"nvrtc: error: invalid value for --std c++99\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The variables that instantiate templates give the symbols and are removed, as are labels
// and remarks; a debugger's sections keep their labels.
func TestTidy(t *testing.T) {
	const text = `.visible .entry _Z1fILi7EEvv
(
	.param .u64 .ptr .align 1 _Z1fILi7EEvv_param_0
)
;
.const .align 8 .u64 __warpbook_instance_0 = _Z1fILi7EEvv;
.visible .entry _Z1fILi7EEvv()                // @_Z1fILi7EEvv
{
$L__func_begin0:
	.loc	1 2 0                           // x.cu:2:0

// %bb.0:
$L__BB0_2:
	ret;
                                        // -- End function
}
	.file	1 "/home/me/x.cu"
	.section	.debug_macinfo	{	}
`
	got, lowered := tidy(text, []string{"f<7>"})
	want := ".visible .entry _Z1fILi7EEvv()\n{\n\t.loc\t1 2 0\n$L__BB0_2:\n\tret;\n}\n\t.file\t1 \"x.cu\"\n"
	if got != want || lowered["f<7>"] != "_Z1fILi7EEvv" {
		t.Errorf("%v, got\n%s\nwant\n%s", lowered, got, want)
	}
	if whole, _ := tidy(text+"\t.section\t.debug_info\n", nil); len(whole) < len(got)+len("$L__func_begin0:") {
		t.Errorf("a label of a debugger's section is missing:\n%s", whole)
	}
}

// The size of a cluster reaches the back end, from constants of one to three numbers.
func TestWithClusters(t *testing.T) {
	const code = `@.args = private unnamed_addr constant { i32, i32, i32 } { i32 4, i32 2, i32 1 }, section "llvm.metadata"
@.args2 = private unnamed_addr constant { i32 } { i32 2 }, section "llvm.metadata"
@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @d, ptr @.str, ptr @.str1, i32 2, ptr @.args }, { ptr, ptr, ptr, i32, ptr } { ptr @e, ptr @.str, ptr @.str1, i32 3, ptr @.args2 }], section "llvm.metadata"
define dso_local ptx_kernel void @d(ptr noundef %0) #0 !dbg !21 {
define dso_local ptx_kernel void @e(ptr noundef %0) #0 {
define dso_local ptx_kernel void @f(ptr noundef %0) #0 {
`
	want := strings.Replace(code, "@d(ptr noundef %0) #0", `@d(ptr noundef %0) "nvvm.cluster_dim"="4,2,1" #0`, 1)
	want = strings.Replace(want, "@e(ptr noundef %0) #0", `@e(ptr noundef %0) "nvvm.cluster_dim"="2,1,1" #0`, 1)
	if got := withClusters(code); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
