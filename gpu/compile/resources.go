package compile

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"

	"warpbook/gpu"
)

// Resources are the registers and memory that an entry needs, and the number of
// its blocks that an SM holds at a time.
type Resources struct {
	Entry       string
	Device      string
	Registers   int // a thread; 0 where it is not known
	SharedBytes int // static, a block
	StackBytes  int // a thread: local arrays and spilled registers
	SpillStores int // bytes a thread; -1 where it is not known
	SpillLoads  int // bytes a thread; -1 where it is not known

	info    gpu.Info
	how     string                       // they are known
	cluster gpu.Dim                      // that the entry was compiled for; 0 for none
	held    func(threads, perSM int) int // clusters that the device holds at a time, -1 if that is not known
}

// Resources asks the assembler for the device's architecture where ptxas is
// found, else the device. On the emulator without ptxas registers are not
// known, and occupancy counts only the other resources.
func (e *Entry) Resources(dev gpu.Device) (*Resources, error) {
	there, err := e.On(dev)
	if err != nil {
		return nil, err
	}
	info, a := dev.Info(), there.Attributes()
	r := &Resources{Entry: e.name, Device: info.String(), info: info, how: "the device's own figures",
		Registers: a.Registers, SharedBytes: a.SharedBytes, StackBytes: a.LocalBytes, SpillStores: -1, SpillLoads: -1}
	if a.Cluster != (gpu.Dim{}) {
		r.cluster, r.held = a.Cluster.Full(), clustersOf(dev, there)
	}
	dir, log, err := e.module.assemble(info.Compute.String())
	if errors.Is(err, gpu.ErrNotFound) {
		if r.Registers == 0 {
			r.how = "ptxas was not found, so registers are not known and do not limit the occupancy shown"
		}
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, errors.Join(r.read(log), os.RemoveAll(dir))
}

// clustersOf is how many clusters a device holds: a GPU's driver knows, and of an emulated GPU
// the groups of SMs are known.
func clustersOf(dev gpu.Device, e gpu.Entry) func(threads, perSM int) int {
	info := dev.Info()
	return func(threads, perSM int) int {
		if info.Groups != nil {
			return info.Clusters(e.Attributes().Cluster.Size(), perSM)
		}
		n, err := dev.Clusters(gpu.Launch{Entry: e, Block: gpu.Dim{X: threads}, LargeCluster: true})
		if err != nil { // a block of another size, or no clusters
			return -1
		}
		return n
	}
}

// registersOn are the registers per thread of an entry, as ptxas compiles it; 0 without ptxas.
func (m *Module) registersOn(info gpu.Info) func(entry string) int {
	log := sync.OnceValue(func() string {
		dir, log, err := m.assemble(info.Compute.String())
		if err != nil {
			return ""
		}
		os.RemoveAll(dir) // in the system's folder of temporary files
		return log
	})
	return func(entry string) int {
		r := Resources{Entry: entry}
		if err := r.read(log()); err != nil {
			return 0
		}
		return r.Registers
	}
}

// read takes the figures from the output of ptxas -v.
func (r *Resources) read(log string) error {
	m := regexp.MustCompile(`Function properties for ` + r.Entry + `\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n` +
		`[^\n]*Used (\d+) registers`).FindStringSubmatch(log)
	if m == nil {
		return fmt.Errorf("compile: resources of %s: the output of ptxas does not contain them", r.Entry)
	}
	for i, to := range []*int{&r.StackBytes, &r.SpillStores, &r.SpillLoads, &r.Registers} {
		*to, _ = strconv.Atoi(m[i+1])
	}
	r.how = "ptxas -v for " + r.info.Compute.String()
	return nil
}

// Title stands above the table.
func (r *Resources) Title() string { return "resources of " + r.Entry + " on " + r.Device }

// Table has a row for each block size.
func (r *Resources) Table() (columns []string, rows [][]string) {
	columns = []string{"threads per block", "registers per thread", "shared bytes per block", "stack bytes", "spill stores", "spill loads",
		"blocks per SM", "warps per SM", "occupancy", "limited by"}
	if r.held != nil {
		columns = append(columns, fmt.Sprintf("clusters %v at once", r.cluster))
	}
	for threads := 32; threads <= r.info.ThreadsPerBlock; threads *= 2 {
		blocks := r.info.Occupancy(threads, r.Registers, r.SharedBytes)
		warps := blocks * threads / 32
		rows = append(rows, []string{fmt.Sprint(threads), known(r.Registers, 0), fmt.Sprint(r.SharedBytes), fmt.Sprint(r.StackBytes),
			known(r.SpillStores, -1), known(r.SpillLoads, -1), fmt.Sprint(blocks), fmt.Sprint(warps),
			fmt.Sprintf("%.0f %%", 100*float64(32*warps)/float64(r.info.ThreadsPerSM)), r.limit(threads, blocks)})
		if r.held != nil {
			rows[len(rows)-1] = append(rows[len(rows)-1], known(r.held(threads, blocks), -1))
		}
	}
	return columns, rows
}

// limit names the resource that limits the number of blocks.
func (r *Resources) limit(threads, blocks int) string {
	switch {
	case blocks == r.info.BlocksPerSM:
		return "blocks"
	case blocks == r.info.Occupancy(threads, 0, 0):
		return "threads"
	case blocks == r.info.Occupancy(threads, 0, r.SharedBytes):
		return "shared memory"
	}
	return "registers"
}

// Notes stand below the table.
func (r *Resources) Notes() []string {
	return []string{r.how + "; occupancy without dynamic shared memory"}
}

func known(n, unknown int) string {
	if n == unknown {
		return "not known"
	}
	return fmt.Sprint(n)
}
