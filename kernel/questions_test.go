package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// questions are questions of a newcomer to the tree, with the place of the answer: a file
// and a declaration in it.
var questions = []struct{ question, file, declaration string }{
	{"Where does an interrupt end a waiting lock?", "kernel/engine/stop/waits.go", "func (s *Stopper) Lock("},
	{"Where does a loop look for an interrupt?", "kernel/engine/rewrite/interrupt_checks.go", "func checkFlag("},
	{"In which order is a cell checked, compiled and run?", "kernel/engine/doc.go", "A cell goes through these stages"},
	{"What undoes a cell's changes when our own code panics?", "kernel/engine/namespace/journal.go", "func (j *Journal) Undo("},
	{"Where does a new type of an old name get its dependents compiled again?", "kernel/engine/check/dependents.go", "func (e *Checker) carryMore("},
	{"How does a type keep its identity across cells?", "kernel/engine/rtypes/types.go", "type Registry struct"},
	{"Which cells are dropped when nothing refers to them?", "kernel/engine/graph/prune.go", "func (g *Graph) Prune("},
	{"Where does Tab find the names after a dot?", "kernel/engine/ask/complete.go", "func (c *completer) selector("},
	{"Which code chooses the hint for a wrong line?", "kernel/engine/hint/habits.go", "var habits"},
	{"Where is a %% magic for the GPU defined?", "kernel/cells/gpumagic/cuda.go", "var cuda"},
	{"Which messages does the kernel answer, and on which channel?", "kernel/server/handlers.go", "var handlers"},
	{"What does a request to the cells program look like?", "kernel/cellproto/proto.go", "type Request struct"},
	{"What happens when a cell ends its process?", "kernel/cellproc/death.go", "func "},
	{"Where does the cells program take a request?", "kernel/cells/main.go", "func (p *program) handle("},
	{"Where does the emulator check a launch before its engine runs it?", "gpu/emu/resources.go", "func (d *Device) prepare("},
	{"Where does the emulator run a load or a store?", "gpu/emu/engine/access.go", "func runAccess("},
	{"Which instructions does the emulator know?", "gpu/emu/engine/forms.go", "var forms"},
	{"Which packages may import which?", "kernel/imports_test.go", "func forbidden("},
}

// TestQuestions checks that each answer is at its place.
func TestQuestions(t *testing.T) {
	for _, q := range questions {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(q.file)))
		if err != nil {
			t.Errorf("%s: %v", q.question, err)
		} else if !strings.Contains(string(text), q.declaration) {
			t.Errorf("%s: %s has no %q", q.question, q.file, q.declaration)
		}
	}
}
