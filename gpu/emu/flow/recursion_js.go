package flow

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// recursion is refused in a browser tab: its program has a limit of 20 MB, and recursion.go takes
// 30 kB of it, compressed.
type recursion struct{}

func newRecursion(map[string]bool) (r recursion) { return r }

func (recursion) recursive(*ptx.Function) bool { return false }

func (recursion) found(f *ptx.Function) error {
	return fmt.Errorf("%w: recursion (of %s) in a browser tab: write a loop, or run this entry outside of the tab", gpu.ErrUnsupported, ptx.Demangle(f.Name))
}

func (*inliner) placer(*ptx.Function) func(*ptx.Variable, string) bool {
	return func(*ptx.Variable, string) bool { return false }
}

func (*inliner) begin(*ptx.Function)                                  {}
func (*inliner) framed(ptx.Instruction) bool                          { return false }
func (*inliner) descend(*ptx.Function, ptx.Instruction, string) error { return nil }
func (*inliner) finish() error                                        { return nil }
