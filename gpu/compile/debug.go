package compile

import (
	"context"
	"slices"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// wanted says which modules a debugger wants as debug builds.
var wanted atomic.Pointer[func(m *Module) bool]

// Debug makes launches on an emulator use debug builds of modules: code without
// optimisation, whose PTX has the names of variables. It asks choose at each use of a
// module; nil ends it. A module of which no compiler here makes a debug build stays as it is.
func Debug(choose func(m *Module) bool) {
	if choose == nil {
		wanted.Store(nil)
		return
	}
	wanted.Store(&choose)
}

// debugging is the debug build of a module. It is guarded by the mutex of loaded.
type debugging struct {
	tried bool
	build *Module // nil if there is none
}

// forDebugger is the debug build of the module if a debugger wants one. Variables of a
// module keep their values: one that has some stays as it was loaded first.
func (m *Module) forDebugger(dev gpu.Device, loaded bool) *Module {
	choose := wanted.Load()
	build := m.debugging.build
	if choose == nil && build == nil || m.options == nil || !dev.Info().Emulated {
		return nil
	}
	if m.options.Debug { // the module is a debug build; the debugger learns its name
		if choose != nil {
			(*choose)(m)
		}
		return nil
	}
	if m.hasVariables() {
		switch {
		case loaded:
			return nil
		case build.loadedOn(dev):
			return build
		}
	}
	if choose == nil || !(*choose)(m) {
		return nil
	}
	if !m.debugging.tried {
		o := *m.options
		o.Debug, o.Committed = true, ""
		m.debugging.build, _ = CUDA(context.Background(), m.Name, m.Source, o) // without it the module stays as it is
		m.debugging.tried = true
	}
	return m.debugging.build
}

func (m *Module) loadedOn(dev gpu.Device) bool {
	if m == nil {
		return false
	}
	m.loaded.mu.Lock()
	defer m.loaded.mu.Unlock()
	return slices.ContainsFunc(m.loaded.on, func(t there) bool { return t.device == dev })
}

func (m *Module) hasVariables() bool {
	parsed, err := ptx.Parse(m.Name, m.ptx)
	if err != nil {
		return true
	}
	for _, v := range parsed.Variables {
		if v.Space == ptx.Global || v.Space == ptx.Const {
			return true
		}
	}
	return false
}
