package engine

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"warpbook/kernel/engine/failure"
)

// registerFatal makes misuses of the library panic for which the runtime ends the process: all
// variables of the session would be lost.
func (e *host) registerFatal() {
	e.external("(*sync.Mutex).Unlock", func(m *sync.Mutex) {
		if m.TryLock() {
			m.Unlock()
			panic(failure.RuntimeError("sync: unlock of unlocked mutex"))
		}
		m.Unlock()
	})
	e.external("(*sync.RWMutex).Unlock", func(m *sync.RWMutex) {
		if m.TryRLock() { // no writer has it
			m.RUnlock()
			panic(failure.RuntimeError("sync: Unlock of unlocked RWMutex"))
		}
		m.Unlock()
	})
	e.external("(*sync.RWMutex).RUnlock", readUnlock)
	e.method("Unlock", reflect.TypeOf(new(sync.RWMutex).RLocker()), func(l sync.Locker) {
		readUnlock((*sync.RWMutex)(reflect.ValueOf(l).UnsafePointer()))
	})
	e.external("runtime.SetFinalizer", setFinalizer)
}

func readUnlock(m *sync.RWMutex) {
	if m.TryLock() { // no reader has it
		m.Unlock()
		panic(failure.RuntimeError("sync: RUnlock of unlocked RWMutex"))
	}
	m.RUnlock()
}

// setFinalizer is runtime.SetFinalizer. A cell that runs again sets it again, which the runtime
// refuses.
func setFinalizer(object, finalizer any) {
	o, f := reflect.ValueOf(object), reflect.ValueOf(finalizer)
	refuse := func(format string, args ...any) {
		panic(failure.RuntimeError("runtime.SetFinalizer: " + fmt.Sprintf(format, args...)))
	}
	switch {
	case !o.IsValid():
		refuse("first argument is nil")
	case o.Kind() != reflect.Pointer:
		refuse("first argument is %v, not pointer", o.Type())
	case o.IsNil():
		refuse("pointer is nil")
	case f.IsValid() && f.Kind() != reflect.Func:
		refuse("second argument is %v, not a function", f.Type())
	case f.IsValid() && (f.Type().IsVariadic() || f.Type().NumIn() != 1 || !o.Type().AssignableTo(f.Type().In(0))):
		refuse("cannot pass %v to finalizer %v", o.Type(), f.Type())
	}
	runtime.SetFinalizer(object, nil)
	if f.IsValid() {
		runtime.SetFinalizer(object, finalizer)
	}
}
