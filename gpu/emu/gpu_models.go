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
	name   string // as given to Open
	gpu    string
	cc     gpu.Compute
	sms    int
	memory int64 // GiB
	l2     int   // MiB
	block  int   // KiB of shared memory a block can have by opting in
	sm     int   // KiB of shared memory of an SM
	thread int   // threads of an SM
	blocks int   // blocks of an SM
	groups []int // SMs of each group (GPC), of a GPU with clusters
}

// A GH100 has 8 groups of 18 SMs, of which 132 work in an H100 or H200, other ones in each
// GPU. Those of the H200 give what cuOccupancyMaxActiveClusters gave on one for clusters of 1
// to 16 blocks and for 1, 2, 4 and 8 blocks an SM (TestGroups): 124 SMs in 8 groups, and 8
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
	{"h200", "NVIDIA H200", gpu.Compute{Major: 9, Minor: 0}, 132, 140, 60, 227, 228, 2048, 32, groupsOfH200},
	{"h100", "NVIDIA H100 80GB HBM3", gpu.Compute{Major: 9, Minor: 0}, 132, 79, 50, 227, 228, 2048, 32, groupsOfH100},
	{"a100", "NVIDIA A100-SXM4-80GB", gpu.Compute{Major: 8, Minor: 0}, 108, 79, 40, 163, 164, 2048, 32, nil},
	{"rtx3090", "NVIDIA GeForce RTX 3090", gpu.Compute{Major: 8, Minor: 6}, 82, 24, 6, 99, 100, 1536, 16, nil},
	{"rtx4060", "NVIDIA GeForce RTX 4060", gpu.Compute{Major: 8, Minor: 9}, 24, 8, 24, 99, 100, 1536, 24, nil},
	{"rtx4090", "NVIDIA GeForce RTX 4090", gpu.Compute{Major: 8, Minor: 9}, 128, 24, 72, 99, 100, 1536, 24, nil},
	{"t4", "Tesla T4", gpu.Compute{Major: 7, Minor: 5}, 40, 15, 4, 64, 64, 1024, 16, nil},
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
		SharedPerBlock: 48 << 10, SharedPerBlockMax: p.block << 10, SharedPerSM: p.sm << 10,
		RegistersPerSM: 65536, ThreadsPerBlock: 1024, ThreadsPerSM: p.thread, BlocksPerSM: p.blocks,
		Groups:   slices.Clone(p.groups),
		MaxGrid:  gpu.Dim{X: 1<<31 - 1, Y: 65535, Z: 65535},
		MaxBlock: gpu.Dim{X: 1024, Y: 1024, Z: 64},
	}
}
