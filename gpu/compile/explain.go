package compile

import (
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/explain"
)

// Explain runs the entry as Run does and reports for each line of the cell
// instructions, idle lanes, requests, sectors, wavefronts and bank conflicts, with
// pictures of the accesses that cost more than necessary. The device must count, as
// "emu" does.
func (e *Entry) Explain(dev gpu.Device, l gpu.Launch) (*explain.Report, error) {
	var p gpu.Profile
	l.Profile = &p
	if err := e.Run(dev, l); err != nil {
		return nil, err
	}
	return explain.Profiles([]gpu.Profile{p}, e.module.Texts()...), nil
}

// Texts are the module's CUDA C++, if it has any, and its PTX, under the names
// and with the line numbers that faults and line information have.
func (m *Module) Texts() []explain.Source {
	texts := []explain.Source{{Name: m.ptxName(), Text: m.ptx}}
	if m.Compiler != "" {
		texts = append(texts, explain.Source{Name: m.Name, Text: strings.Repeat("\n", m.firstLine-1) + m.Source})
	}
	return texts
}
