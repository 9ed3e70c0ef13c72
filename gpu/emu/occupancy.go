package emu

import (
	"fmt"

	"warpbook/gpu"
)

// Occupancy is the number of blocks of a launch that an SM holds.
func (d *Device) Occupancy(l gpu.Launch) (int, error) {
	if err := d.usable("occupancy"); err != nil {
		return 0, err
	}
	e, ok := l.Entry.(*entry)
	if !ok || e.module.dev != d {
		return 0, fmt.Errorf("emu: occupancy: %w: the entry is not of this device, load the module on it", gpu.ErrArgument)
	}
	if err := gpu.CheckBlock(d.info, l); err != nil {
		return 0, err
	}
	return d.engine.Occupancy(e.program, l.Block.Size(), l.Shared), nil
}

// Clusters is the number of clusters of a launch that the device holds at a time.
func (d *Device) Clusters(l gpu.Launch) (int, error) {
	perSM, err := d.Occupancy(l)
	if err != nil {
		return 0, err
	}
	if err := d.checkClusters(l); err != nil {
		return 0, err
	}
	clusters := d.info.Clusters(l.ClusterShape().Size(), perSM)
	return clusters, gpu.CheckResident(d.info, l, clusters, d.largestCluster(l, perSM))
}

// LargestCluster is the most blocks that a cluster of a launch may have.
func (d *Device) LargestCluster(l gpu.Launch) (int, error) {
	perSM, err := d.Occupancy(l)
	if err != nil {
		return 0, err
	}
	return d.largestCluster(l, perSM), gpu.CheckHasClusters(d.info, l)
}

func (d *Device) largestCluster(l gpu.Launch, perSM int) int {
	return min(l.ClusterLimit(), d.info.ClusterLimit(perSM))
}

func (d *Device) checkClusters(l gpu.Launch) error {
	if err := gpu.CheckHasClusters(d.info, l); err != nil {
		return err
	}
	return gpu.CheckCluster(d.info, l)
}

// fits refuses a launch whose clusters the GPU never holds. Those of at most 8 blocks it
// always holds, if it holds a block.
func (d *Device) fits(l gpu.Launch) error {
	if l.LargeCluster && l.ClusterShape().Size() > 1 {
		_, err := d.Clusters(l)
		return err
	}
	return nil
}
