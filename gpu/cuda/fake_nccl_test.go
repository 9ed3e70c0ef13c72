package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// fakeNCCLVariable is the folder in which fake workers meet, as those of NCCL do by
// sockets. Without it they have no library.
const fakeNCCLVariable = "WARPBOOK_TEST_NCCL"

// fakeNCCL is the ranks of a fake worker. A rank leaves a file for each thing that it does,
// and has done it when the files of all ranks are there.
type fakeNCCL struct {
	ranks map[uint32]*fakeRank
	left  int // how often LeaveGroup came
}

type fakeRank struct {
	dir        string
	rank, size int
	stop       *atomic.Uint32
	number     int // of collectives that were begun
	run        *command.Collect
	times      int
}

func (f *fakeNCCL) do(c command.Command, w *fake) (values []int64, err error) {
	if f.ranks == nil {
		f.ranks = map[uint32]*fakeRank{}
	}
	dir := os.Getenv(fakeNCCLVariable)
	if dir == "" {
		return nil, fmt.Errorf("%w: no such file", gpu.ErrNotFound)
	}
	switch c := c.(type) {
	case *command.OpenNCCL:
		version := int64(22705)
		if w.how == "newer NCCL" {
			version++
		}
		return []int64{version, int64(len(c.Paths) - 1)}, nil
	case *command.GroupID:
		group, err := os.MkdirTemp(dir, "")
		id := make([]byte, 128)
		copy(id, filepath.Base(group))
		for ; len(id) > 0; id = id[8:] {
			values = append(values, int64(binary.LittleEndian.Uint64(id)))
		}
		return values, err
	case *command.JoinGroup:
		if w.how == "does not join" || w.how == "neither joins nor stops" {
			return nil, fmt.Errorf("join: %w: unhandled system error", errNCCL)
		}
		r := &fakeRank{dir: filepath.Join(dir, string(bytes.TrimRight(c.ID, "\x00"))), rank: int(c.Rank), size: int(c.Size), stop: (*atomic.Uint32)(unsafe.Pointer(&w.arena[c.StopAt]))}
		f.ranks[c.Group] = r
		return nil, r.leave("join", nil)
	case *command.Collect:
		if err := w.failed; err != nil {
			w.failed = nil
			return nil, err
		}
		return f.ranks[c.Group].collect(*c, w)
	case *command.PollGroup:
		return f.ranks[c.Group].poll(w)
	case *command.LeaveGroup:
		if f.left++; w.how == "busy" && f.left < 3 {
			return []int64{command.GroupBusy}, nil
		}
		delete(f.ranks, c.Group)
		if w.how == "does not stop" || w.how == "neither joins nor stops" {
			return nil, fmt.Errorf("%w: NCCL did not stop within 3s: ncclCommAbort has not returned", errNCCL)
		}
		return []int64{1, 0}, nil
	}
	return nil, nil
}

// leave leaves a file.
func (r *fakeRank) leave(name string, content []byte) error {
	path := filepath.Join(r.dir, fmt.Sprintf("%s.%d", name, r.rank))
	return errors.Join(os.WriteFile(path+".new", content, 0o600), os.Rename(path+".new", path))
}

// all reads the files of all ranks, nil while one is missing.
func (r *fakeRank) all(name string) (contents [][]byte) {
	for rank := range r.size {
		content, err := os.ReadFile(filepath.Join(r.dir, fmt.Sprintf("%s.%d", name, rank)))
		if err != nil {
			return nil
		}
		contents = append(contents, content)
	}
	return contents
}

func (r *fakeRank) collect(c command.Collect, w *fake) ([]int64, error) {
	c.Runs = slices.Clone(c.Runs)
	r.run, r.times = &c, 0
	switch w.how {
	case "dies in a collective":
		os.Exit(3)
	case "never comes", "does not stop", "fails":
		return []int64{command.GroupBusy, 0}, nil
	}
	if err := r.begin(w); err != nil {
		return nil, err
	}
	return r.poll(w)
}

// present is the collective that is under way.
func (r *fakeRank) present() *command.Run { return &r.run.Runs[r.times%len(r.run.Runs)] }

// begin leaves the input of the next repeat.
func (r *fakeRank) begin(w *fake) error {
	of := r.present().In
	in := make([]byte, of.Bytes)
	if err := w.view(of.Buffer, of.Offset, of.Bytes).Download(in); err != nil {
		return err
	}
	r.number++
	return r.leave(fmt.Sprint(r.number), in)
}

func (r *fakeRank) poll(w *fake) ([]int64, error) {
	on := []int64{command.GroupBusy, 0}
	switch {
	case w.how == "hangs":
		time.Sleep(time.Hour)
	case r.stop.Load() != 0:
		return nil, gpu.ErrInterrupted
	case w.how == "fails" && r.run != nil:
		return nil, fmt.Errorf("%w: collective: unhandled system error: a cable is loose", errNCCL)
	case r.run == nil:
		if r.all("join") == nil {
			return on, nil
		}
		return []int64{command.GroupIdle, 0}, nil
	}
	inputs := r.all(fmt.Sprint(r.number))
	if inputs == nil || w.how == "never comes" || w.how == "does not stop" {
		return on, nil
	}
	of := r.present()
	out := combineFake(of, inputs)
	if of.Collective == command.ReduceScatter {
		part := len(out) / r.size
		out = out[r.rank*part : (r.rank+1)*part]
	}
	if err := w.view(of.Out.Buffer, of.Out.Offset, of.Out.Bytes).Upload(out); err != nil {
		return nil, err
	}
	if r.times++; r.times < int(r.run.Warmup+r.run.Repeats)*len(r.run.Runs) {
		return []int64{command.GroupQueueing, 0}, r.begin(w)
	}
	repeats := r.run.Repeats
	r.run = nil
	return []int64{command.GroupIdle, int64(repeats) * int64(time.Millisecond)}, nil
}

// combineFake checks the sizes of a collective as NCCL counts them, and computes it.
func combineFake(c *command.Run, inputs [][]byte) []byte {
	bytesOf := map[uint32]int64{0: 1, 1: 1, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2}[c.Type]
	if c.Count*bytesOf != c.Out.Bytes {
		panic(fmt.Sprintf("%d elements of type %d in %d bytes", c.Count, c.Type, c.Out.Bytes))
	}
	if c.Collective == command.Broadcast {
		return inputs[c.Root]
	}
	switch c.Type {
	case 2:
		return combineType[int32](c.Op, inputs)
	case 3:
		return combineType[uint32](c.Op, inputs)
	case 5:
		return combineType[uint64](c.Op, inputs)
	case 7:
		return combineType[float32](c.Op, inputs)
	case 8:
		return combineType[float64](c.Op, inputs)
	}
	panic(fmt.Sprintf("the fake combines no elements of type %d", c.Type))
}

func combineType[T int32 | uint32 | uint64 | float32 | float64](op uint32, inputs [][]byte) []byte {
	var all []T
	for rank, input := range inputs {
		var z T
		x := make([]T, len(input)/int(unsafe.Sizeof(z)))
		binary.Decode(input, binary.LittleEndian, x) // it has that length
		for i, v := range x {
			switch {
			case rank == 0:
				all = append(all, v)
			case op == 0:
				all[i] += v
			case op == 2:
				all[i] = max(all[i], v)
			case op == 3:
				all[i] = min(all[i], v)
			}
		}
	}
	out, _ := binary.Append(nil, binary.LittleEndian, all) // of a slice of numbers
	return out
}
