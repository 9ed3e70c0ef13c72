package program

import (
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

var (
	undeclared = lazyregexp.New(`^(?:use of undeclared identifier|unknown type name|no member named|no matching function for call to) '(\w+)'`)
	driverName = lazyregexp.New(`^(?:cu[A-Z]|CU)[a-z]`)
	clusters   = lazyregexp.New(`no (?:type|member) named '(?:cluster_group|this_cluster)'`)
	notFound   = lazyregexp.New(`^'([^']+)' file not found$`)
	unmasked   = lazyregexp.New(`^__(?:all|any|ballot|shfl|shfl_up|shfl_down|shfl_xor)$`)
	references = lazyregexp.New(`^cuda(?:Bind|Unbind)(?:Texture|Surface)`)
)

// objects replace the references to textures and surfaces that CUDA 12 removed.
const objects = "create a cudaTextureObject_t by cudaCreateTextureObject, or a cudaSurfaceObject_t by cudaCreateSurfaceObject, and give it to the kernel"

// libraries are those of NVIDIA for the host, by the beginnings of their names and headers.
var libraries = []struct{ prefix, name string }{
	{"cublas", "cuBLAS"}, {"curand", "cuRAND's host API"}, {"cufft", "cuFFT"}, {"cusparse", "cuSPARSE"}, {"cusolver", "cuSOLVER"}, {"cudnn", "cuDNN"},
	{"nccl", "NCCL"}, {"nvml", "NVML"}, {"npp", "NPP"}, {"thrust", "Thrust"}, {"cub/", "CUB"}, {"nvrtc", "NVRTC"}, {"nvtx", "the rest of NVTX"},
}

// explained adds to a message of the compiler that a library or a call is not there.
func explained(text string) string {
	name := ""
	if m := undeclared().FindStringSubmatch(text); m != nil {
		name = m[1]
	} else if m := notFound().FindStringSubmatch(text); m != nil {
		name = m[1]
	}
	for _, l := range libraries {
		if strings.HasPrefix(name, l.prefix) {
			return text + ": " + l.name + " is not there for whole programs"
		}
	}
	switch {
	case unmasked().MatchString(name):
		return text + ": GPUs since sm_70 have it with a mask of the lanes that take part: " + name + "_sync(0xffffffff, ...)"
	case references().MatchString(name) || text == "no template named 'texture'" || text == "no template named 'surface'":
		return text + ": CUDA 12 has no references to textures and surfaces: " + objects
	case strings.HasPrefix(name, "cuda/"):
		return text + ": libcu++ is in the pip wheel nvidia-cuda-cccl-cu12==12.9.27: give its folder by -I, which ends in nvidia/cuda_cccl/include"
	case strings.HasPrefix(name, "cudaIpc"):
		return text + ": memory and events of other processes are not there for whole programs"
	case strings.HasPrefix(name, "cuda") && !strings.Contains(name, "."):
		return text + ": warpbook's runtime library has no " + name + ": warpbook cuda --calls prints what it has"
	case name == "omp.h":
		return text + ": OpenMP is not there for whole programs: use std::thread"
	case strings.Contains(name, "_gl_interop") || strings.HasPrefix(name, "GL/"):
		return text + ": OpenGL is not there for whole programs"
	case clusters().MatchString(text):
		return text + ": clusters of blocks need --arch sm_90"
	case strings.HasSuffix(name, ".h") && strings.HasPrefix(name, "helper_"):
		return text + ": it is of NVIDIA's samples: give its folder by -I, or copy it beside the source"
	case driverName().MatchString(name) && !strings.Contains(name, "."):
		return text + ": CUDA's driver API is not there for whole programs: call the runtime API, cuda..."
	case strings.Contains(text, "requires relocatable device code"):
		return "a kernel launches a kernel: dynamic parallelism is not there for whole programs: launch it from the host"
	}
	return text
}
