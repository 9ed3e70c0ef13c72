package command

import "math"

// The layout of each message.

func (*Alloc) Kind() Kind         { return KindAlloc }
func (m *Alloc) fields(c *codec)  { c.u32(&m.Buffer); c.i64(&m.Bytes) }
func (*Free) Kind() Kind          { return KindFree }
func (m *Free) fields(c *codec)   { c.u32(&m.Buffer) }
func (*Unload) Kind() Kind        { return KindUnload }
func (m *Unload) fields(c *codec) { c.u32(&m.Module) }

func (*Register) Kind() Kind          { return KindRegister }
func (m *Register) fields(c *codec)   { c.i64(&m.Offset); c.i64(&m.Bytes) }
func (*Unregister) Kind() Kind        { return KindUnregister }
func (m *Unregister) fields(c *codec) { c.i64(&m.Offset) }

func (*Load) Kind() Kind { return KindLoad }
func (m *Load) fields(c *codec) {
	c.u32s(&m.Module, &m.FirstEntry, &m.FirstBuffer)
	list(c, &m.Entries, 4, c.text)
	list(c, &m.Offsets, 4, func(o *[]uint32) { list(c, o, 4, c.u32) })
	list(c, &m.Variables, 4, c.text)
	c.text(&m.Text)
}

func (*NewStream) Kind() Kind          { return KindNewStream }
func (m *NewStream) fields(c *codec)   { c.u32(&m.Stream) }
func (*CloseStream) Kind() Kind        { return KindCloseStream }
func (m *CloseStream) fields(c *codec) { c.u32(&m.Stream) }
func (*NewEvent) Kind() Kind           { return KindNewEvent }
func (m *NewEvent) fields(c *codec)    { c.u32(&m.Event) }
func (*CloseEvent) Kind() Kind         { return KindCloseEvent }
func (m *CloseEvent) fields(c *codec)  { c.u32(&m.Event) }

// launchBytes is how many bytes the fields of a Launch have at least.
const launchBytes = 66

func (*Launch) Kind() Kind { return KindLaunch }
func (m *Launch) fields(c *codec) {
	c.u32s(&m.Stream, &m.Entry)
	c.dim(&m.Grid)
	c.dim(&m.Block)
	c.u32(&m.Shared)
	c.flag(&m.Cooperative)
	c.dim(&m.Cluster)
	c.flag(&m.Large)
	list(c, &m.Zero, 20, func(r *Range) { r.fields(c) })
	c.bytes(&m.Params)
	list(c, &m.Addresses, 16, func(a *Address) { c.u32s(&a.At, &a.Buffer); c.i64(&a.Offset) })
	list(c, &m.Maps, 60, func(t *Map) { t.fields(c) })
}

func (m *Map) fields(c *codec) {
	c.u32s(&m.At, &m.Type)
	m.Tensor.fields(c)
	list(c, &m.Shape, 8, c.i64)
	list(c, &m.Strides, 8, c.i64)
	list(c, &m.Box, 4, c.u32)
	c.u32s(&m.Swizzle, &m.Fill)
	list(c, &m.Lower, 4, c.i32)
	list(c, &m.Upper, 4, c.i32)
	c.u32s(&m.Channels, &m.Pixels)
	list(c, &m.Steps, 4, c.u32)
}

func (m *Range) fields(c *codec) { c.u32(&m.Buffer); c.i64(&m.Offset); c.i64(&m.Bytes) }
func (m *Place) fields(c *codec) { c.u32(&m.Buffer); c.i64(&m.Offset) }

func (*Copy) Kind() Kind { return KindCopy }
func (m *Copy) fields(c *codec) {
	c.u32(&m.Stream)
	m.Dst.fields(c)
	m.Src.fields(c)
	c.i64(&m.Bytes)
}

func (*Zero) Kind() Kind        { return KindZero }
func (m *Zero) fields(c *codec) { c.u32(&m.Stream); m.Range.fields(c) }

func (*Record) Kind() Kind           { return KindRecord }
func (m *Record) fields(c *codec)    { c.u32s(&m.Stream, &m.Event) }
func (*Wait) Kind() Kind             { return KindWait }
func (m *Wait) fields(c *codec)      { c.u32s(&m.Stream, &m.Event) }
func (*Sync) Kind() Kind             { return KindSync }
func (m *Sync) fields(c *codec)      { c.u32(&m.Stream) }
func (*SyncEvent) Kind() Kind        { return KindSyncEvent }
func (m *SyncEvent) fields(c *codec) { c.u32(&m.Event) }
func (*Elapsed) Kind() Kind          { return KindElapsed }
func (m *Elapsed) fields(c *codec)   { c.u32s(&m.Start, &m.End) }

func (*Time) Kind() Kind { return KindTime }
func (m *Time) fields(c *codec) {
	c.i64(&m.StopAt)
	c.u32s(&m.Interrupts, &m.Warmup, &m.Repeats)
	c.flag(&m.Flush)
	c.flag(&m.Graph)
	list(c, &m.Launches, launchBytes, func(l *Launch) { l.fields(c) })
}

func (*Occupancy) Kind() Kind        { return KindOccupancy }
func (m *Occupancy) fields(c *codec) { c.u32s(&m.Entry, &m.Threads, &m.Shared) }

func (*Clusters) Kind() Kind { return KindClusters }
func (m *Clusters) fields(c *codec) {
	c.u32s(&m.Entry, &m.Shared)
	c.dim(&m.Block)
	c.dim(&m.Cluster)
	c.flag(&m.Large)
}

func (*AllocAsync) Kind() Kind         { return KindAllocAsync }
func (m *AllocAsync) fields(c *codec)  { c.u32s(&m.Stream, &m.Buffer); c.i64(&m.Bytes) }
func (*FreeAsync) Kind() Kind          { return KindFreeAsync }
func (m *FreeAsync) fields(c *codec)   { c.u32s(&m.Stream, &m.Buffer) }
func (*LaunchGraph) Kind() Kind        { return KindLaunchGraph }
func (m *LaunchGraph) fields(c *codec) { c.u32s(&m.Graph, &m.Stream) }
func (*CloseGraph) Kind() Kind         { return KindCloseGraph }
func (m *CloseGraph) fields(c *codec)  { c.u32(&m.Graph) }

func (*UpdateGraph) Kind() Kind        { return KindUpdateGraph }
func (m *UpdateGraph) fields(c *codec) { c.u32s(&m.Graph, &m.Node); m.Launch.fields(c) }

func (*Graph) Kind() Kind { return KindGraph }
func (m *Graph) fields(c *codec) {
	c.u32(&m.Graph)
	list(c, &m.Nodes, 8, func(n *Node) { n.fields(c) })
}

// fields has only that of the kind of work.
func (m *Node) fields(c *codec) {
	c.u32((*uint32)(&m.Work))
	list(c, &m.After, 4, c.u32)
	switch m.Work {
	case NodeLaunch:
		m.Launch.fields(c)
	case NodeCopy:
		m.Copy.fields(c)
	default:
		m.Zero.fields(c)
	}
}

func (*Array) Kind() Kind { return KindArray }
func (m *Array) fields(c *codec) {
	c.u32s(&m.Array, &m.Format, &m.Channels)
	c.dim(&m.Size)
	c.u32(&m.Layers)
	c.flag(&m.Surface)
}

func (*CopyArray) Kind() Kind        { return KindCopyArray }
func (m *CopyArray) fields(c *codec) { c.u32(&m.Array); m.Buffer.fields(c); c.flag(&m.Read) }
func (*FreeArray) Kind() Kind        { return KindFreeArray }
func (m *FreeArray) fields(c *codec) { c.u32(&m.Array) }

func (*Texture) Kind() Kind { return KindTexture }
func (m *Texture) fields(c *codec) {
	c.u32(&m.Array)
	m.Buffer.fields(c)
	c.u32s(&m.Format, &m.Channels, &m.Address)
	c.flag(&m.Linear)
	c.flag(&m.Normalised)
	c.flag(&m.Scaled)
	for i := range m.Border {
		bits := math.Float32bits(m.Border[i])
		c.u32(&bits)
		m.Border[i] = math.Float32frombits(bits)
	}
}

func (*Surface) Kind() Kind           { return KindSurface }
func (m *Surface) fields(c *codec)    { c.u32(&m.Array) }
func (*FreeObject) Kind() Kind        { return KindFreeObject }
func (m *FreeObject) fields(c *codec) { c.i64(&m.Object); c.flag(&m.Surface) }

func (*OpenNCCL) Kind() Kind         { return KindOpenNCCL }
func (m *OpenNCCL) fields(c *codec)  { list(c, &m.Paths, 4, c.text) }
func (*GroupID) Kind() Kind          { return KindGroupID }
func (m *GroupID) fields(*codec)     {}
func (*PollGroup) Kind() Kind        { return KindPollGroup }
func (m *PollGroup) fields(c *codec) { c.u32(&m.Group) }
func (*LeaveGroup) Kind() Kind       { return KindLeaveGroup }

func (m *LeaveGroup) fields(c *codec) { c.u32(&m.Group) }

func (*JoinGroup) Kind() Kind { return KindJoinGroup }
func (m *JoinGroup) fields(c *codec) {
	c.u32s(&m.Group, &m.Rank, &m.Size)
	c.i64(&m.StopAt)
	c.bytes(&m.ID)
}

func (*Collect) Kind() Kind { return KindCollect }
func (m *Collect) fields(c *codec) {
	c.u32(&m.Group)
	list(c, &m.Runs, 64, func(r *Run) {
		c.u32s((*uint32)(&r.Collective), &r.Type, &r.Op, &r.Root)
		r.In.fields(c)
		r.Out.fields(c)
		c.i64(&r.Count)
	})
	c.u32s(&m.Warmup, &m.Repeats)
}

func (m *Hello) fields(c *codec) {
	c.u32(&m.Protocol)
	c.i32(&m.Code)
	c.text(&m.Text)
	c.text(&m.Name)
	c.text(&m.UUID)
	c.i64(&m.Driver)
	c.i64(&m.Bytes)
	list(c, &m.Attributes, 8, c.i64)
}

func (m *Answer) fields(c *codec) {
	c.i32(&m.Code)
	c.text(&m.Text)
	list(c, &m.Suspects, 32, func(s *Suspect) {
		c.text(&s.Entry)
		c.dim(&s.Grid)
		c.dim(&s.Block)
		c.u32(&s.Shared)
	})
	list(c, &m.Values, 8, c.i64)
}

// Set is one command of each kind, read into again and again.
type Set [kinds]Command

// get is the command of a kind, nil for no kind.
func (s *Set) get(k Kind) Command {
	if k >= kinds {
		return nil
	}
	if s[k] == nil {
		s[k] = fresh(k)
	}
	return s[k]
}

func fresh(k Kind) Command {
	for _, c := range []Command{&Alloc{}, &Free{}, &Register{}, &Unregister{}, &Load{}, &Unload{}, &NewStream{},
		&CloseStream{}, &NewEvent{}, &CloseEvent{}, &Launch{}, &Copy{}, &Zero{}, &Record{}, &Wait{}, &Sync{},
		&SyncEvent{}, &Elapsed{}, &Time{}, &Occupancy{}, &AllocAsync{}, &FreeAsync{}, &Graph{}, &UpdateGraph{},
		&LaunchGraph{}, &CloseGraph{}, &Array{}, &CopyArray{}, &FreeArray{}, &Texture{}, &Surface{}, &FreeObject{},
		&OpenNCCL{}, &GroupID{}, &JoinGroup{}, &Collect{}, &PollGroup{}, &LeaveGroup{}, &Clusters{}} {
		if c.Kind() == k {
			return c
		}
	}
	return nil
}
