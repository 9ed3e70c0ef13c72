package gpu

import (
	"fmt"
	"strings"
)

// String is a launch in a line.
func (l Launch) String() string {
	name := "no entry"
	if l.Entry != nil {
		name = l.Entry.Name()
	}
	text := fmt.Sprintf("launch of %s: grid %v, block %v, %d arguments", name, l.Grid.Full(), l.Block.Full(), len(l.Args))
	if l.Shared > 0 {
		text += fmt.Sprintf(", %d bytes of dynamic shared memory", l.Shared)
	}
	if l.Cooperative {
		text += ", cooperative"
	}
	if l.Cluster != (Dim{}) {
		text += fmt.Sprintf(", clusters %v", l.Cluster.Full())
	}
	if len(l.Zero) > 0 {
		text += fmt.Sprintf(", %d buffers set to 0 before", len(l.Zero))
	}
	if l.Checks != 0 {
		text += ", checks " + l.Checks.String()
	}
	return text
}

// checkNames are in the order of the bits.
var checkNames = []string{"uninitialized", "races", "none", "bounds", "alignment", "freed", "barriers", "masks", "races between blocks", "division", "races of threads"}

// String lists the checks: "bounds|races"; 0 is "default".
func (c Checks) String() string {
	if c == 0 {
		return "default"
	}
	var names []string
	for i, name := range checkNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if more := c >> len(checkNames) << len(checkNames); more != 0 {
		names = append(names, fmt.Sprintf("%#x", uint16(more)))
	}
	return strings.Join(names, "|")
}

// String is a place in a line.
func (p Place) String() string {
	if p.Device == nil {
		return "no place"
	}
	return fmt.Sprintf("%d bytes from byte %d of an allocation on %v", p.Bytes, p.Start, p.Device.Info())
}

// Signature is an entry with its parameters, as PTX declares them:
// "sum(.u64 x, .u64 y, .u32 n)".
func Signature(e Entry) string {
	var params []string
	for _, p := range e.Params() {
		text := "." + p.Type + " " + p.Name
		if p.Count > 1 {
			text += fmt.Sprintf("[%d]", p.Count)
		}
		params = append(params, text)
	}
	return e.Name() + "(" + strings.Join(params, ", ") + ")"
}
