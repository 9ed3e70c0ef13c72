package monitor

import (
	"os"
	"strings"
)

// profilers are the environment variables that tools set for the processes
// that they look into. Under one, kernels are replayed, serialised or slowed.
var profilers = []struct{ variable, tool string }{
	{"NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "Nsight Compute"},
	{"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "Nsight Compute"},
	{"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
	{"QUADD_INJECTION_PROXY", "Nsight Systems"},
	{"NV_SANITIZER_INJECTION_PORT_BASE", "compute-sanitizer"},
	{"CUDA_INJECTION64_PATH", "a tool"},
	{"CUDA_PROFILE", "the driver's profiler"},
	{"COMPUTE_PROFILE", "the driver's profiler"},
}

// Profiler names the tool that this process runs under, "" for none. Programs
// that it starts run under the same.
func Profiler() string {
	for _, p := range profilers {
		if value := os.Getenv(p.variable); value != "" && value != "0" {
			return p.tool + " (" + p.variable + ")"
		}
	}
	if strings.Contains(os.Getenv("LD_PRELOAD"), "libcuda-injection") {
		return "Nsight Compute (LD_PRELOAD)"
	}
	return ""
}
