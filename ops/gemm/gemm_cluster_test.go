package gemm

import (
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/gpu/ptxfile"
)

// TestClustersAtOnce compares the clusters that are predicted to run at once with those that
// the device holds: exactly on an H200 and its emulator. Other GPUs have other groups of
// multiprocessors, and their figures are printed.
func TestClustersAtOnce(t *testing.T) {
	const file = "gemm_cluster.sm_90a.ptx"
	text, err := ptxfile.Read(files, file)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		if d.Info().Compute.Major < 9 {
			t.Skipf("%v has no clusters", d.Info())
		}
		m, err := d.Load(file, text)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, of := range clusters {
			e, err := m.Entry("gemm_cluster" + of.entry)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Clusters(gpu.Launch{Entry: e, Block: gpu.Dim{X: copiedThreads}, Shared: clusterBytes})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d clusters of %d blocks on %v, expected %d", got, of.blocks, d.Info(), of.atOnce)
			if strings.Contains(d.Info().Name, "H200") && got != of.atOnce {
				t.Errorf("%d clusters of %d blocks on %v, expected %d", got, of.blocks, d.Info(), of.atOnce)
			}
		}
	})
}
