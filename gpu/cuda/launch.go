package cuda

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// encode checks a launch and puts it into a command for a worker, which has
// the module afterwards.
func (d *Device) encode(l *link, launch gpu.Launch) (command.Launch, error) {
	var c command.Launch
	e, ok := launch.Entry.(*entry)
	if launch.Entry != nil && (!ok || e.module.dev != d) {
		return c, fmt.Errorf("cuda: launch: %w: the entry is not of this device, load the module on it", gpu.ErrArgument)
	}
	if ok {
		if err := e.module.ensure(l); err != nil {
			return c, asFault("launch "+e.Name(), err)
		}
	}
	if err := gpu.CheckLaunch(d.info, launch, func(b gpu.Buffer) error { return d.own(l, b) }); err != nil {
		return c, err
	}
	if launch.Counters != nil || launch.Profile != nil {
		return c, fmt.Errorf("cuda: launch %s: %w: a GPU does not count here: launch it on the device emu", e.Name(), gpu.ErrUnsupported)
	}
	if threads := launch.Block.Size(); threads > e.threads {
		return c, fmt.Errorf("cuda: launch %s: %w: block of %d threads, expected at most %d: it takes %d registers per thread",
			e.Name(), gpu.ErrShape, threads, e.threads, e.Attributes().Registers)
	}
	c = command.Launch{Entry: e.handle, Grid: shape(launch.Grid), Block: shape(launch.Block), Shared: uint32(launch.Shared)}
	if e.attributes.Cluster == (gpu.Dim{}) && launch.Cluster != (gpu.Dim{}) { // the driver knows those that an entry was compiled for
		c.Cluster = shape(launch.Cluster)
	}
	if launch.LargeCluster && launch.ClusterShape().Size() > 1 {
		c.Large = true
		if _, err := d.clusters(l, launch); err != nil {
			return c, err
		}
	}
	for _, z := range launch.Zero {
		c.Zero = append(c.Zero, z.(*buffer).span())
	}
	if launch.Cooperative {
		c.Cooperative = true
		if err := d.cooperate(l, launch); err != nil {
			return c, err
		}
	}
	if err := e.pack(launch.Args, &c); err != nil {
		return c, err
	}
	return c, e.putObjects(l, launch.Args, c.Params)
}

// cooperate refuses a cooperative launch whose blocks do not all fit.
func (d *Device) cooperate(l *link, launch gpu.Launch) error {
	perSM, err := d.occupancy(l, launch)
	if err != nil {
		return err
	}
	return gpu.CheckCooperative(d.info, launch, perSM)
}

func shape(d gpu.Dim) [3]uint32 {
	d = d.Full()
	return [3]uint32{uint32(d.X), uint32(d.Y), uint32(d.Z)}
}

// pack lays arguments out as the entry wants them; the worker puts in the
// addresses and tensor maps.
func (e *entry) pack(args []any, c *command.Launch) error {
	c.Params = make([]byte, e.bytes)
	for i, a := range args {
		at := int(e.offsets[i])
		if m, ok := a.(gpu.TensorMap); ok {
			encoded, err := e.tensorMap(m, at)
			if err != nil {
				return fmt.Errorf("cuda: launch %s: argument %d, %s: %w", e.Name(), i, e.params[i].Name, err)
			}
			c.Maps = append(c.Maps, encoded)
			continue
		}
		if _, ok := a.(gpu.Object); ok {
			continue // putObjects
		}
		gpu.PutArgument(c.Params[at:at+e.params[i].Bytes], a, func(in int, b gpu.Buffer) {
			x := b.(*buffer)
			c.Addresses = append(c.Addresses, command.Address{At: uint32(at + in), Buffer: x.memory.handle, Offset: x.offset})
		})
	}
	return nil
}

// tensorTypes are CUDA's numbers of the data types (CUtensorMapDataType); it
// has none for signed bytes and half words, which are copied all the same.
var tensorTypes = map[gpu.Type]uint32{
	gpu.Uint8: 0, gpu.Int8: 0, gpu.Uint16: 1, gpu.Int16: 1, gpu.Uint32: 2, gpu.Int32: 3, gpu.Uint64: 4, gpu.Int64: 5,
	gpu.Float16: 6, gpu.Float32: 7, gpu.Float64: 8, gpu.BFloat16: 9,
}

// tf32Type is float32 that is rounded on its way (CU_TENSOR_MAP_DATA_TYPE_TFLOAT32).
const tf32Type = 11

// nanFill makes elements outside of the tensor NaN (CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA).
const nanFill = 1

// swizzles are its numbers of the ways to exchange parts of a tile.
var swizzles = map[int]uint32{0: 0, 32: 1, 64: 2, 128: 3}

func (e *entry) tensorMap(m gpu.TensorMap, at int) (command.Map, error) {
	info := e.module.dev.info
	if info.Compute.Major < 9 {
		return command.Map{}, fmt.Errorf("%w: a tensor map, which TMA instructions use: expected sm_90 or later, not %v", gpu.ErrUnsupported, info)
	}
	b := m.Buffer.(*buffer)
	c := command.Map{At: uint32(at), Type: tensorTypes[b.typ], Tensor: b.place(), Swizzle: swizzles[m.Swizzle]}
	if m.TF32 {
		c.Type = tf32Type
	}
	if m.NaN {
		c.Fill = nanFill
	}
	if f := m.Im2col; f != nil {
		c.Channels, c.Pixels, c.Steps = uint32(f.Channels), uint32(f.Pixels), []uint32{1}
		for i := range f.Lower {
			c.Lower, c.Upper = append(c.Lower, int32(f.Lower[i])), append(c.Upper, int32(f.Upper[i]))
			step := 1
			if f.Steps != nil {
				step = f.Steps[i]
			}
			c.Steps = append(c.Steps, uint32(step))
		}
		c.Steps = append(c.Steps, 1)
	}
	for _, n := range m.Shape {
		c.Shape = append(c.Shape, int64(n))
	}
	for _, n := range m.DenseStrides() {
		c.Strides = append(c.Strides, int64(n))
	}
	for _, n := range m.Box {
		c.Box = append(c.Box, uint32(n))
	}
	return c, nil
}
