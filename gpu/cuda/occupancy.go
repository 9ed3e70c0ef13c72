package cuda

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// Occupancy is the number of blocks of a launch that an SM holds at a time.
func (d *Device) Occupancy(launch gpu.Launch) (int, error) {
	l, err := d.loaded(launch)
	if err != nil {
		return 0, err
	}
	return d.occupancy(l, launch)
}

// loaded is the device's worker, in which the module of a launch is loaded, whose block is
// checked.
func (d *Device) loaded(launch gpu.Launch) (*link, error) {
	l, err := d.worker()
	if err != nil {
		return nil, asFault("occupancy", err)
	}
	e, ok := launch.Entry.(*entry)
	if !ok || e.module.dev != d {
		return nil, fmt.Errorf("cuda: occupancy: %w: the entry is not of this device, load the module on it", gpu.ErrArgument)
	}
	if err := e.module.ensure(l); err != nil {
		return nil, asFault("occupancy", err)
	}
	return l, gpu.CheckBlock(d.info, launch)
}

// occupancy asks the driver, once for each shape, about a launch that was
// checked and whose module is loaded.
func (d *Device) occupancy(l *link, launch gpu.Launch) (int, error) {
	e, shape := launch.Entry.(*entry), blockShape{launch.Block.Size(), launch.Shared}
	if n, ok := e.fit.Load(shape); ok {
		return n.(int), nil
	}
	c := &command.Occupancy{Entry: e.handle, Threads: uint32(launch.Block.Size()), Shared: uint32(launch.Shared)}
	a, err := d.do(l, c, "occupancy of "+e.Name())
	if err != nil {
		return 0, err
	}
	e.fit.Store(shape, int(a.Values[0]))
	return int(a.Values[0]), nil
}

// Clusters is the number of clusters of a launch that the device holds at a time.
func (d *Device) Clusters(launch gpu.Launch) (int, error) {
	l, err := d.loaded(launch)
	if err != nil {
		return 0, err
	}
	if err := gpu.CheckHasClusters(d.info, launch); err != nil {
		return 0, err
	}
	if err := gpu.CheckCluster(d.info, launch); err != nil {
		return 0, err
	}
	return d.clusters(l, launch)
}

// LargestCluster is the most blocks that a cluster of a launch may have.
func (d *Device) LargestCluster(launch gpu.Launch) (int, error) {
	l, err := d.loaded(launch)
	if err != nil {
		return 0, err
	}
	if err := gpu.CheckHasClusters(d.info, launch); err != nil {
		return 0, err
	}
	launch.Cluster = gpu.Dim{}
	held, err := d.heldClusters(l, launch)
	return held[1], err
}

// clusters asks the driver about a launch that was checked and whose module is loaded.
func (d *Device) clusters(l *link, launch gpu.Launch) (int, error) {
	held, err := d.heldClusters(l, launch)
	if err != nil {
		return 0, err
	}
	return held[0], gpu.CheckResident(d.info, launch, held[0], held[1])
}

// heldClusters are the clusters of a launch that the device holds at a time and the most
// blocks of one. The driver is asked once for each shape.
func (d *Device) heldClusters(l *link, launch gpu.Launch) (held [2]int, err error) {
	e := launch.Entry.(*entry)
	c := command.Clusters{Entry: e.handle, Shared: uint32(launch.Shared), Block: shape(launch.Block),
		Cluster: shape(launch.ClusterShape()), Large: launch.LargeCluster}
	if known, ok := e.clusters.Load(c); ok {
		return known.([2]int), nil
	}
	a, err := d.do(l, &c, "clusters of "+e.Name())
	if err != nil {
		return held, err
	}
	if len(a.Values) != len(held) {
		return held, fmt.Errorf("cuda: clusters of %s: %d values in the answer, expected %d", e.Name(), len(a.Values), len(held))
	}
	held[0] = int(a.Values[0])
	held[1] = min(int(a.Values[1]), launch.ClusterLimit()) // the driver has no other limit once another launch was large
	e.clusters.Store(c, held)
	return held, nil
}
