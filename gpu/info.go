package gpu

import (
	"fmt"
	"slices"
)

// Info describes a device. For the emulator it is the profile of the GPU that
// it stands for.
type Info struct {
	Name     string  // "NVIDIA H200"
	Emulated bool    // times are times of the emulation, not of a GPU
	Driver   string  // version of the CUDA driver; "" on the emulator
	UUID     string  // "GPU-" and more, by which nvidia-smi and CUDA_VISIBLE_DEVICES know it; "" on the emulator
	Compute  Compute // compute capability
	PTX      Version // newest .version that loads
	Checks   Checks  // what launches can be checked for; 0 on a GPU

	SMs               int
	GlobalBytes       int64
	L2Bytes           int64
	SharedPerBlock    int // bytes, without opting in
	SharedPerBlockMax int // bytes, with opting in
	SharedPerSM       int
	RegistersPerSM    int
	ThreadsPerBlock   int
	ThreadsPerSM      int
	BlocksPerSM       int
	Groups            []int // SMs of each group (GPC), in which a cluster must lie; nil on a GPU, whose driver does not tell
	MaxGrid           Dim
	MaxBlock          Dim
}

// EmulatorOf begins the label of an emulated device, so that no figure of the
// emulation passes for one of the GPU that it stands for.
const EmulatorOf = "emulator of "

// Label is the device as a figure names it: the GPU's name, or that of the GPU
// that is emulated after "emulator of ".
func (i Info) Label() string {
	if i.Emulated {
		return EmulatorOf + i.Name
	}
	return i.Name
}

// String is the device as an environment block names it.
func (i Info) String() string {
	if i.Emulated {
		return fmt.Sprintf("%s (%v)", i.Label(), i.Compute)
	}
	return fmt.Sprintf("%s (%v, driver %s)", i.Name, i.Compute, i.Driver)
}

// Occupancy is how many blocks an SM holds at a time, of so many threads,
// registers a thread (0 where they are not known) and bytes of shared memory,
// static and dynamic. It is 0 for a block that does not fit.
//
// Source: CUDA C++ Programming Guide, Compute Capabilities, for the units in
// which warps get registers and blocks shared memory.
func (i Info) Occupancy(threads, registers, shared int) int {
	const registerUnit, partitions = 256, 4 // of a warp; an SM's warps
	warps := max(1, roundUp(threads, 32)/32)
	blocks := min(i.BlocksPerSM, i.ThreadsPerSM/(32*warps))
	if registers > 0 {
		fit := i.RegistersPerSM / roundUp(32*registers, registerUnit) / partitions * partitions
		blocks = min(blocks, fit/warps)
	}
	unit, reserved := 128, 1<<10 // of a block; of each block by the system
	if i.Compute.Major < 8 {
		unit, reserved = 256, 0
	}
	if shared > 0 {
		blocks = min(blocks, i.SharedPerSM/roundUp(shared+reserved, unit))
	}
	return blocks
}

// Clusters is how many clusters of so many blocks the groups of SMs hold at a time, where
// an SM holds perSM blocks. The blocks of a cluster lie in one group of at least as many
// SMs as it has blocks, and may share an SM. It is 0 where the groups are not known.
func (i Info) Clusters(blocks, perSM int) int {
	clusters := 0
	for _, sms := range i.Groups {
		if sms >= blocks {
			clusters += sms * perSM / blocks
		}
	}
	return clusters
}

// ClusterLimit is the most blocks of a cluster that one of the groups holds; 0 where they are
// not known, or an SM holds no block.
func (i Info) ClusterLimit(perSM int) int {
	if perSM == 0 || len(i.Groups) == 0 {
		return 0
	}
	return slices.Max(i.Groups)
}

// Compute is a compute capability, such as 9.0 for sm_90.
type Compute struct{ Major, Minor int }

func (c Compute) String() string { return fmt.Sprintf("sm_%d%d", c.Major, c.Minor) }

// Version is a version of the PTX language.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
