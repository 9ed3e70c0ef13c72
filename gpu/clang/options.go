package clang

import (
	"fmt"
	"strings"

	"warpbook/gpu/compile/compiler"
)

// fixed are the flags of every compilation. The host that clang assumes is the same on
// every machine, so that types have one size; nothing is read of the machine's headers.
var fixed = []string{
	"-x", "cuda", "--target=x86_64-unknown-linux-gnu", "--cuda-device-only", "-nostdinc", "-nocudainc", "-nocudalib", "-S",
	"-fno-exceptions", "-fno-rtti", "-fno-crash-diagnostics", optimizer[0], optimizer[1], optimizer[2], optimizer[3], lanes[0], lanes[1], heap[0], heap[1],
	"-fdiagnostics-format=msvc", "-fno-diagnostics-show-line-numbers", "-fno-color-diagnostics", "-fno-diagnostics-fixit-info",
	"-ferror-limit=100", "-fbracket-depth=4096", "-Wno-unknown-pragmas", "-Wno-unused-command-line-argument", "-Wno-unknown-cuda-version", "-Wunused-variable",
}

// optimizer are flags of LLVM's passes. Register arrays stay in registers only where functions
// are inlined, hence the threshold. A component of a float4 that one branch alone uses would
// sink into it: then one load of 16 bytes is four of 4, with bank conflicts.
var optimizer = []string{"-mllvm", "-inline-threshold=1000000", "-mllvm", "-instcombine-code-sinking=0"}

// lanes let functions take a value that only some lanes have set: int v; if (lane == 0) v = ...;
// v = __shfl_sync(mask, v, 0). Without them clang takes it that lane is 0.
var lanes = []string{"-Xclang", "-no-enable-noundef-analysis"}

// heap keeps the calls of malloc and free, as NVRTC does. Without it clang drops a malloc
// whose memory nothing reads, and takes it that it succeeds.
var heap = []string{"-fno-builtin-malloc", "-fno-builtin-free"}

// translate returns clang's flags for those of NVRTC, and whether functions without a
// word of CUDA are device functions.
func translate(options []string) (flags []string, permits bool) {
	debug := false
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "--gpu-architecture":
			arch := strings.TrimPrefix(strings.TrimPrefix(value, "compute_"), "sm_")
			flags = append(flags, "--cuda-gpu-arch=sm_"+arch, "--cuda-feature=+ptx"+ptxVersion(arch))
		case "--std":
			flags = append(flags, "-std="+value)
		case "--generate-line-info":
			flags = append(flags, "-gline-tables-only")
		case "--device-debug":
			debug = true
		case "--use_fast_math":
			flags = append(flags, "-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals",
				"-mllvm", "-nvptx-prec-divf32=0", "-mllvm", "-nvptx-prec-sqrtf32=0", "-D__USE_FAST_MATH__")
		case "--include-path":
			flags = append(flags, "-I", value)
		case "--define-macro":
			flags = append(flags, "-D"+value)
		case "--device-as-default-execution-space":
			permits = true
		}
	}
	if debug {
		return append(flags, "-O0", "-g"), permits
	}
	return append(flags, "-O2"), permits
}

// ptxVersion is the lowest version of PTX that knows an architecture, and at least that of
// the committed PTX.
func ptxVersion(arch string) string {
	switch number := strings.TrimRight(arch, "af"); {
	case len(number) < 3:
		return "80"
	case number == "100" || number == "101":
		return "86"
	}
	return "87"
}

// nameMap is the file in which NVRTC places mistakes of name expressions.
const nameMap = "__nv_name_map"

// named is the variable that holds the address of an instance.
const named = "__warpbook_instance_"

// wrap is the source of a request with its name, after the header that the request includes
// before it, and with a variable for each name expression: it makes the compiler
// instantiate the template, and the PTX says the symbol. Other headers of the request are
// for NVRTC, which lacks them.
func wrap(request compiler.Request, permits bool) string {
	var b strings.Builder
	for _, o := range request.Options {
		if name, ok := strings.CutPrefix(o, "--pre-include="); ok {
			fmt.Fprintf(&b, "# 1 %q\n%s\n", name, request.Headers[name])
		}
	}
	if permits {
		b.WriteString("#pragma clang force_cuda_host_device begin\n")
	}
	fmt.Fprintf(&b, "# 1 %q\n%s\n", request.Name, doubled(request.Text))
	if permits {
		b.WriteString("#pragma clang force_cuda_host_device end\n")
	}
	for i, name := range request.Names {
		fmt.Fprintf(&b, "# %d %q\nextern \"C\" { __attribute__((device, used)) void* const %s%d = (void*)&%s; }\n", i+1, nameMap, named, i, name)
	}
	return b.String()
}
