package emu

import (
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
)

// profile is a GPU that the emulator represents: its limits decide which launches and
// modules are rejected.
type profile struct {
	name           string // as given to Open
	gpu            string
	cc             gpu.Compute
	sms            int
	memory         int64 // GiB
	l2             int   // MiB
	sharedPerBlock int   // KiB, by opting in
	sharedPerSM    int   // KiB
	threadsPerSM   int
	blocksPerSM    int
	groups         []int // SMs of each group (GPC), of a GPU with clusters
}

// A GH100 has 8 groups of 18 SMs, of which 132 work in an H100 or H200, other ones in each
// GPU. Those of the H200 give what cuOccupancyMaxActiveClusters gave on one for clusters of 1
// to 16 blocks and for 1, 2, 4 and 8 blocks per SM (TestGroups): 124 SMs in 8 groups, and 8
// SMs in pairs, which hold no larger cluster. On H100 15 clusters of 8 are published
// (github.com/NVIDIA/cutlass, issue 1921); the sizes of its groups are assumed.
var (
	groupsOfH200 = []int{18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2}
	groupsOfH100 = []int{18, 16, 16, 16, 16, 16, 16, 14, 2, 2}
)

// profiles are the GPUs to choose from; the first is the default. Figures are
// those of the CUDA programming guide's table of compute capabilities and of
// deviceQuery.
var profiles = []profile{
	{
		name: "h200", gpu: "NVIDIA H200", cc: gpu.Compute{Major: 9, Minor: 0},
		sms: 132, memory: 140, l2: 60, sharedPerBlock: 227, sharedPerSM: 228, threadsPerSM: 2048, blocksPerSM: 32,
		groups: groupsOfH200,
	},
	{
		name: "h100", gpu: "NVIDIA H100 80GB HBM3", cc: gpu.Compute{Major: 9, Minor: 0},
		sms: 132, memory: 79, l2: 50, sharedPerBlock: 227, sharedPerSM: 228, threadsPerSM: 2048, blocksPerSM: 32,
		groups: groupsOfH100,
	},
	{
		name: "a100", gpu: "NVIDIA A100-SXM4-80GB", cc: gpu.Compute{Major: 8, Minor: 0},
		sms: 108, memory: 79, l2: 40, sharedPerBlock: 163, sharedPerSM: 164, threadsPerSM: 2048, blocksPerSM: 32,
	},
	{
		name: "rtx3090", gpu: "NVIDIA GeForce RTX 3090", cc: gpu.Compute{Major: 8, Minor: 6},
		sms: 82, memory: 24, l2: 6, sharedPerBlock: 99, sharedPerSM: 100, threadsPerSM: 1536, blocksPerSM: 16,
	},
	{
		name: "rtx4060", gpu: "NVIDIA GeForce RTX 4060", cc: gpu.Compute{Major: 8, Minor: 9},
		sms: 24, memory: 8, l2: 24, sharedPerBlock: 99, sharedPerSM: 100, threadsPerSM: 1536, blocksPerSM: 24,
	},
	{
		name: "rtx4090", gpu: "NVIDIA GeForce RTX 4090", cc: gpu.Compute{Major: 8, Minor: 9},
		sms: 128, memory: 24, l2: 72, sharedPerBlock: 99, sharedPerSM: 100, threadsPerSM: 1536, blocksPerSM: 24,
	},
	{
		name: "t4", gpu: "Tesla T4", cc: gpu.Compute{Major: 7, Minor: 5},
		sms: 40, memory: 15, l2: 4, sharedPerBlock: 64, sharedPerSM: 64, threadsPerSM: 1024, blocksPerSM: 16,
	},
}

// newestPTX is the newest version of the language that compilers emit today.
var newestPTX = gpu.Version{Major: 9, Minor: 5}

// Profiles lists the names that Open knows, the default first.
func Profiles() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	return names
}

// lookup finds a profile; "" is the default.
func lookup(name string) (gpu.Info, error) {
	if name == "" {
		name = profiles[0].name
	}
	for _, p := range profiles {
		if p.name == name {
			return p.info(), nil
		}
	}
	return gpu.Info{}, fmt.Errorf("emu: profile %q: %w, expected one of %s",
		name, gpu.ErrNotFound, strings.Join(Profiles(), ", "))
}

func (p profile) info() gpu.Info {
	return gpu.Info{
		Name: p.gpu, Emulated: true, Compute: p.cc, PTX: newestPTX, Checks: gpu.CheckAll | gpu.CheckBlockRaces,
		SMs:         p.sms,
		GlobalBytes: p.memory << 30, L2Bytes: int64(p.l2) << 20,
		SharedPerBlock: 48 << 10, SharedPerBlockMax: p.sharedPerBlock << 10, SharedPerSM: p.sharedPerSM << 10,
		RegistersPerSM: 65536, ThreadsPerBlock: 1024, ThreadsPerSM: p.threadsPerSM, BlocksPerSM: p.blocksPerSM,
		Groups:   slices.Clone(p.groups),
		MaxGrid:  gpu.Dim{X: 1<<31 - 1, Y: 65535, Z: 65535},
		MaxBlock: gpu.Dim{X: 1024, Y: 1024, Z: 64},
	}
}
