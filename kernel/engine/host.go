package engine

import (
	"go/token"
	"os"
	"sync"

	"github.com/visualfc/gid"

	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/stop"
)

// external makes cells call f where they name a function of a package.
func (e *host) external(name string, f any) {
	e.externals[name] = f
	e.files.Ctx.RegisterExternal(name, f)
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
	g, _ := e.ours.Load(gid.Get())
	o, _ := g.(owner)
	return o.cell
}

// owner is the cell of a goroutine, and the go statement that started it, if one did.
type owner struct {
	cell uint64
	pos  token.Pos
}

// host is the environment of the code of cells: the functions of this process that cells
// call, their goroutines and their streams.
type host struct {
	config    *Config
	files     *namespace.Files
	stop      *stop.Stopper
	externals map[string]any // functions of this program by the names that cells call; made by New
	ours      sync.Map       // ids of goroutines that recover by themselves, to their owner
	warned    sync.Map       // positions of statements whose dropped error has been reported
	calls     sync.Map       // ids to the calls of magics in the cells that run
	stdout    stream
	stderr    stream
}
