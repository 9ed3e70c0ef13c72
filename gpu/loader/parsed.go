package loader

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"weak"

	"warpbook/gpu/ptx"
)

// parsed are the modules that are in use, by name and text: benches of one operator load
// the same megabytes of PTX again and again. Without Keep, it keeps none of them alive. A
// parsed module is not written, so that devices and goroutines share it.
var parsed = struct {
	sync.Mutex
	modules map[text]weak.Pointer[ptx.Module]
	keeps   bool
	kept    []*ptx.Module // all since Keep
}{modules: map[text]weak.Pointer[ptx.Module]{}}

// Keep keeps every module that is parsed from now on until the program ends. Tests of
// operators call it. Their benches load the same texts one after the other.
func Keep() {
	parsed.Lock()
	defer parsed.Unlock()
	parsed.keeps = true
}

// text identifies the source of a module: its name and its hash.
type text struct {
	name string
	hash [sha256.Size]byte
}

// parse is ptx.Parse, or the module that it made of the same text.
func parse(name, from string) (*ptx.Module, error) {
	key := text{name, sha256.Sum256([]byte(from))}
	parsed.Lock()
	m := parsed.modules[key].Value()
	parsed.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := ptx.Parse(name, from)
	if err != nil {
		return nil, err
	}
	parsed.Lock()
	defer parsed.Unlock()
	parsed.modules[key] = weak.Make(m)
	if parsed.keeps {
		parsed.kept = append(parsed.kept, m)
	}
	runtime.AddCleanup(m, forget, key)
	return m, nil
}

// forget drops a collected module, unless its text was parsed again since.
func forget(key text) {
	parsed.Lock()
	defer parsed.Unlock()
	if parsed.modules[key].Value() == nil {
		delete(parsed.modules, key)
	}
}
