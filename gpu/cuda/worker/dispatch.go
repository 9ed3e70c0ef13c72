//go:build cuda

package main

import (
	"errors"
	"fmt"

	"warpbook/gpu/cuda/command"
)

// Do executes a command. The error of a command that is not awaited is stored in its
// stream, or in the default stream if the command has no stream.
func (w *worker) Do(c command.Command, answer *command.Answer) {
	values, on, err := w.do(c)
	if err == nil {
		answer.Values = values
		return
	}
	if answer.Number == 0 {
		s := w.streams[on]
		if s == nil {
			s = w.streams[command.DefaultStream]
		}
		if s.err == nil {
			s.err = err
		}
		return
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: command.CodeProtocol, text: err.Error()}
	}
	answer.Code, answer.Text = f.code, f.text
	if answer.Suspects = w.suspects(); f.launches != nil {
		answer.Suspects = f.launches
	}
}

// do executes a command and names the stream that it is for.
func (w *worker) do(c command.Command) (values []int64, on uint32, err error) {
	switch c := c.(type) {
	case *command.Launch:
		return nil, c.Stream, w.launch(c)
	case *command.Copy:
		return nil, c.Stream, w.copy(c)
	case *command.Zero:
		return nil, c.Stream, w.zero(c.Stream, c.Range)
	case *command.Record:
		return nil, c.Stream, w.record(c)
	case *command.Wait:
		return nil, c.Stream, w.wait(c)
	case *command.LaunchGraph:
		return nil, c.Stream, w.launchGraph(c)
	case *command.FreeAsync:
		return nil, c.Stream, w.freeAsync(c)
	case *command.Sync:
		return nil, 0, w.sync(c.Stream)
	case *command.Time:
		values, err = w.time(c)
	case *command.Load:
		values, err = w.load(c)
	case *command.Occupancy:
		values, err = w.occupancy(c)
	case *command.Clusters:
		values, err = w.clusters(c)
	case *command.Elapsed:
		values, err = w.elapsed(c)
	case *command.Texture:
		values, err = w.texture(c)
	case *command.Surface:
		values, err = w.surface(c)
	case *command.OpenNCCL:
		values, err = w.openNCCL(c)
	case *command.GroupID:
		values, err = w.groupID()
	case *command.Collect:
		values, err = w.collect(c)
	case *command.PollGroup:
		values, err = w.pollGroup(c.Group)
	case *command.LeaveGroup:
		values, err = w.leaveGroup(c.Group)
	default:
		err = w.manage(c)
	}
	return values, 0, err
}

// manage executes the commands that make and release things.
func (w *worker) manage(c command.Command) error {
	switch c := c.(type) {
	case *command.Alloc:
		return w.alloc(c)
	case *command.Free:
		return w.free(c.Buffer)
	case *command.AllocAsync:
		return w.allocAsync(c)
	case *command.Register:
		return w.register(c)
	case *command.Unregister:
		return w.unregister(c)
	case *command.Unload:
		return w.unload(c.Module)
	case *command.NewStream:
		return w.newStream(c.Stream)
	case *command.CloseStream:
		return w.closeStream(c.Stream)
	case *command.NewEvent:
		return w.newEvent(c.Event)
	case *command.CloseEvent:
		return w.closeEvent(c.Event)
	case *command.Graph:
		return w.makeGraph(c)
	case *command.UpdateGraph:
		return w.updateGraph(c)
	case *command.CloseGraph:
		return w.closeGraph(c.Graph)
	case *command.Array:
		return w.newArray(c)
	case *command.CopyArray:
		return w.copyArray(c)
	case *command.FreeArray:
		return w.freeArray(c.Array)
	case *command.FreeObject:
		return freeObject(c)
	case *command.JoinGroup:
		return w.joinGroup(c)
	case *command.SyncEvent:
		e, err := find(w.events, c.Event, "event")
		if err != nil {
			return err
		}
		return wrap(e.Synchronize(), "sync")
	}
	return fmt.Errorf("command %T is not known", c)
}
