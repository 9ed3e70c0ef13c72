package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/gputest"
)

// TestClustersOfModel compares the clusters that the driver says a GPU holds at once with
// the rule of gpu.Info.Clusters. What follows from the rule for all groups of SMs is
// asserted: where an SM holds a multiple of a cluster's blocks, the clusters fill the groups
// that have as many SMs as a cluster has blocks, and larger clusters have no more such
// groups. The figures themselves differ from GPU to GPU, because other SMs work: they are
// printed beside those of the emulator.
func TestClustersOfModel(t *testing.T) {
	d, err := openGPU(t)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.info.Compute.Major != 9 {
		t.Skipf("needs a Hopper GPU, this is %v", d.info)
	}
	name := "h200"
	if strings.Contains(d.info.Name, "H100") {
		name = "h100"
	}
	model, err := emu.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	held := map[[2]int]int{} // by blocks of a cluster and blocks an SM
	for _, shared := range []int{d.info.SharedPerBlockMax, d.info.SharedPerSM/2 - 1024, d.info.SharedPerSM/4 - 1024, d.info.SharedPerSM/8 - 1024} {
		for blocks := 1; blocks <= 16; blocks++ {
			l := gpu.Launch{Block: gpu.Dim{X: 32}, Shared: shared, Cluster: gpu.Dim{X: blocks}, LargeCluster: true}
			byDriver, perSM, err := clustersOn(d, l)
			byModel, _, otherErr := clustersOn(model, l)
			t.Logf("%d blocks an SM, clusters of %d: driver %d %v, emulator %d %v", perSM, blocks, byDriver, err, byModel, otherErr)
			held[[2]int{blocks, perSM}] = byDriver
		}
	}
	full := map[int]int{1: d.info.SMs} // SMs of the groups that hold clusters of so many blocks
	for _, blocks := range []int{2, 4, 8} {
		for perSM := blocks; perSM <= 8; perSM *= 2 {
			n := held[[2]int{blocks, perSM}]
			sms := n * blocks / perSM
			if first, ok := full[blocks]; ok && sms != first {
				t.Errorf("%d clusters of %d blocks where an SM holds %d, on %d SMs, expected %d", n, blocks, perSM, sms, first)
			}
			full[blocks] = sms
		}
		if full[blocks] > full[blocks/2] || full[blocks] == 0 {
			t.Errorf("%d SMs hold clusters of %d blocks, expected at most %d, which hold those of %d", full[blocks], blocks, full[blocks/2], blocks/2)
		}
	}
	for at, n := range held {
		if blocks, perSM := at[0], at[1]; n < perSM*held[[2]int{blocks, 1}] {
			t.Errorf("%d clusters of %d blocks where an SM holds %d, expected at least as many times %d", n, blocks, perSM, held[[2]int{blocks, 1}])
		}
	}
}

// clustersOn is how many clusters of an empty kernel a device holds, and the blocks of one SM.
func clustersOn(d gpu.Device, l gpu.Launch) (clusters, perSM int, err error) {
	m, err := d.Load("empty.ptx", gputest.EmptyEntry)
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	if l.Entry, err = m.Entry("empty"); err != nil {
		return 0, 0, err
	}
	if perSM, err = d.Occupancy(l); err != nil {
		return 0, 0, err
	}
	clusters, err = d.Clusters(l)
	return clusters, perSM, err
}

// TestClustersOfFake checks what the client asks: every size gives the emulator's answer, in
// its words.
func TestClustersOfFake(t *testing.T) {
	d, err := openFake(t, "emulator")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	model, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	var refused []int
	for blocks := 1; blocks <= 18; blocks++ {
		for _, large := range []bool{false, true, false} {
			l := gpu.Launch{Block: gpu.Dim{X: 64}, Shared: 200 << 10, Cluster: gpu.Dim{X: blocks}, LargeCluster: large}
			got, _, err := clustersOn(d, l)
			want, _, wantErr := clustersOn(model, l)
			if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("clusters of %d blocks, large %v: %d, %v, expected %d, %v", blocks, large, got, err, want, wantErr)
			}
			if err != nil && large {
				refused = append(refused, blocks)
			}
		}
	}
	if want := []int{17, 18}; !slices.Equal(refused, want) {
		t.Errorf("%v blocks are refused with LargeCluster, expected %v", refused, want)
	}
}
