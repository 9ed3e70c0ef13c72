package engine

import (
	"go/token"
	"io"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"

	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/stop"
)

// external makes cells call f where they name a function of a package.
func (e *host) external(name string, f any) {
	e.externals[name] = f
	e.files.Ctx.RegisterExternal(name, f)
	if _, method, ok := strings.Cut(name, ")."); ok { // calls through interfaces find it by its receiver
		e.method(method, reflect.TypeOf(f).In(0), f)
	}
}

// method makes cells call f where they call a method of a compiled type through an
// interface.
func (e *host) method(name string, recv reflect.Type, f any) {
	if e.methods[name] == nil {
		e.methods[name] = map[reflect.Type]reflect.Value{}
	}
	e.methods[name][recv] = reflect.ValueOf(f)
}

// stream is the destination of cells' prints: the file, or Config.Output.
type stream struct {
	host *host
	name string
	file *os.File
}

func (s stream) Write(text []byte) (int, error) {
	if output := s.host.config.Output; output != nil {
		return output(s.host.Owner(), s.name, text)
	}
	return s.file.Write(text)
}

// Owner is the id of the cell that started the current goroutine, 0 if that is unknown:
// compiled code starts goroutines too.
func (e *host) Owner() uint64 {
	if o := e.ownerOf(gid.Get()); o != nil {
		return o.cell
	}
	return 0
}

// ownerOf is the owner of the goroutine of an id, nil if compiled code has started it.
func (e *host) ownerOf(id uint64) *owner {
	g, _ := e.ours.Load(id)
	o, _ := g.(*owner)
	return o
}

// mark notes that this goroutine begins to run code of cells.
func (e *host) mark(o *owner) { e.ours.Store(gid.Get(), o) }

// forget notes that this goroutine runs no more code of cells.
func (e *host) forget() { e.ours.Delete(gid.Get()) }

// owner is a goroutine that runs code of cells and recovers by itself. Only the goroutine
// changes it, but named.
type owner struct {
	cell  uint64                     // that has started it
	pos   token.Pos                  // of the go statement of a cell that has started it
	goes  bool                       // it is a goroutine of its own, not that of a cell
	named atomic.Bool                // a warning has named it
	root  atomic.Pointer[ixgo.Frame] // above those of its calls, nil if it is unknown
	//lint:ignore U1000 the edited engine uses it
	inner []*ixgo.Frame // functions that code outside of their interpreter has called
	//lint:ignore U1000 the edited engine reads it
	logged logged // the record that its handlers handle
	//lint:ignore U1000 the edited engine reads it
	ofPackage bool // a function of an imported package has started it, and callFromPackage is not active
}

// logged is the place of a record that a handler handles. Compiled handlers ask the
// runtime for it, which does not know cells.
type logged struct {
	//lint:ignore U1000 the edited engine uses it
	pc uintptr // of the record, 0 if package log makes it
	//lint:ignore U1000 the edited engine uses it
	source *slog.Source
}

// host is the environment of the code of cells: the functions of this process that cells
// call, their goroutines and their streams.
type host struct {
	config    *Config
	files     *namespace.Files
	stop      *stop.Stopper
	externals map[string]any                            // functions of this program by the names that cells call; made by New
	methods   map[string]map[reflect.Type]reflect.Value // those that are methods, by name and receiver
	ours      sync.Map                                  // ids of goroutines that recover by themselves, to their *owner
	listened  atomic.Bool                               // cells have made listeners
	warned    sync.Map                                  // positions of statements whose dropped error has been reported
	calls     sync.Map                                  // ids to the calls of magics in the cells that run
	reader    func(io.Reader) io.Reader                 // that reads for cells, set by registerReads
	body      func(io.ReadCloser) io.ReadCloser         // likewise, of an answer
	stdout    stream
	stderr    stream
}
