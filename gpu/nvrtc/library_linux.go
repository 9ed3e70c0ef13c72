package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
)

// api is the part of nvrtc.h that is used; each function returns an
// nvrtcResult, 0 for success.
type api struct {
	version   func(major, minor *int32) int32
	errorText func(result int32) string
	create    func(program *uintptr, source, name string, headers int32, sources, names unsafe.Pointer) int32
	build     func(program uintptr, options int32, list unsafe.Pointer) int32
	destroy   func(program *uintptr) int32
	logSize   func(program uintptr, size *uintptr) int32
	log       func(program uintptr, text *byte) int32
	ptxSize   func(program uintptr, size *uintptr) int32
	ptx       func(program uintptr, text *byte) int32
	addName   func(program uintptr, expression string) int32
	lowered   func(program uintptr, expression string, symbol **byte) int32
}

// load opens a library and asks it for its release.
func load(path string) (*library, error) {
	preloadBuiltins(path)
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	lib := &library{}
	for name, f := range map[string]any{
		"nvrtcVersion":           &lib.version,
		"nvrtcGetErrorString":    &lib.errorText,
		"nvrtcCreateProgram":     &lib.create,
		"nvrtcCompileProgram":    &lib.build,
		"nvrtcDestroyProgram":    &lib.destroy,
		"nvrtcGetProgramLogSize": &lib.logSize,
		"nvrtcGetProgramLog":     &lib.log,
		"nvrtcGetPTXSize":        &lib.ptxSize,
		"nvrtcGetPTX":            &lib.ptx,
		"nvrtcAddNameExpression": &lib.addName,
		"nvrtcGetLoweredName":    &lib.lowered,
	} {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(f, symbol)
	}
	var major, minor int32
	if r := lib.version(&major, &minor); r != 0 {
		return nil, lib.check(r)
	}
	lib.release = fmt.Sprintf("%d.%d", major, minor)
	return lib, nil
}

// preloadBuiltins opens the library of built-in functions beside libnvrtc. libnvrtc
// opens it by its bare name, and the loader does not search the folder of a pip wheel.
func preloadBuiltins(path string) {
	for _, builtins := range matches(filepath.Dir(path), "libnvrtc-builtins.so*") {
		purego.Dlopen(builtins, purego.RTLD_NOW|purego.RTLD_GLOBAL) // if it fails, the compiler reports it
	}
}

// run compiles a source. It returns the log also with an error.
func (a *api) run(p program) (done compiled, err error) {
	handle, err := a.createProgram(p)
	if err != nil {
		return done, err
	}
	defer a.destroy(&handle)
	for _, name := range p.names {
		if err := a.check(a.addName(handle, name)); err != nil {
			return done, err
		}
	}
	list := cStrings(p.options)
	built := a.build(handle, int32(len(p.options)), unsafe.Pointer(&list[0]))
	runtime.KeepAlive(list)
	done.log, err = a.text(handle, a.logSize, a.log)
	if err := errors.Join(a.check(built), err); err != nil {
		return done, err
	}
	if done.ptx, err = a.text(handle, a.ptxSize, a.ptx); err != nil {
		return done, err
	}
	done.lowered = map[string]string{}
	for _, name := range p.names {
		var symbol *byte
		if err := a.check(a.lowered(handle, name, &symbol)); err != nil {
			return done, err
		}
		done.lowered[name] = cString(symbol)
	}
	return done, nil
}

// createProgram hands a source and its headers to the compiler.
func (a *api) createProgram(p program) (handle uintptr, err error) {
	files := slices.Sorted(maps.Keys(p.headers))
	var texts []string
	for _, name := range files {
		texts = append(texts, p.headers[name])
	}
	names, sources := cStrings(files), cStrings(texts)
	err = a.check(a.create(&handle, p.text, p.name, int32(len(files)), unsafe.Pointer(&sources[0]), unsafe.Pointer(&names[0])))
	runtime.KeepAlive(names)
	runtime.KeepAlive(sources)
	return handle, err
}

// cStrings are strings for C, and a nil at the end, so that the list is never empty.
func cStrings(list []string) []*byte {
	pointers := make([]*byte, len(list)+1)
	for i, s := range list {
		pointers[i] = unsafe.StringData(s + "\x00")
	}
	return pointers
}

// cString copies a string of C.
func cString(s *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// text fetches a string of the program: its size with the NUL, then itself.
func (a *api) text(program uintptr, size func(uintptr, *uintptr) int32, get func(uintptr, *byte) int32) (string, error) {
	var n uintptr
	if err := a.check(size(program, &n)); err != nil || n <= 1 {
		return "", err
	}
	buf := make([]byte, n)
	err := a.check(get(program, &buf[0]))
	return string(buf[:n-1]), err
}

func (a *api) check(result int32) error {
	if result == 0 {
		return nil
	}
	return errors.New(a.errorText(result))
}
