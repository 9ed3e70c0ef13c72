// Package results holds what a bench finds: tables, records and lines of checks, times,
// counters and peers, the environment that they depend on, and the figures of committed
// runs. Package bench fills them; notebooks and the commands of ops/cmd show them.
//
// It runs nothing on a device, and must import neither bench nor run nor an operator.
package results

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Subject is the operator, the size and the device that a result is about. The results of a
// bench embed it.
type Subject struct {
	Operator    *ladder.Operator
	Size        ladder.Size
	Device      gpu.Info
	Environment Environment
}

func (s Subject) title(what string) string {
	return fmt.Sprintf("%s of %s: %s", what, s.Operator.Name, s.Operator.Describe(s.Size))
}

// Environment is everything except the code that a figure depends on. It ends every
// table and is part of every record.
type Environment struct {
	Device string   `json:"device"`
	PTX    string   `json:"ptx"`
	Commit string   `json:"commit"`
	Data   string   `json:"data"`
	Method string   `json:"method"`
	Host   string   `json:"host"`
	Date   string   `json:"date"`
	NotRun []string `json:"not_run,omitempty"` // variants that the device refuses, and why
	Beside []string `json:"beside,omitempty"`  // other work of the GPU, or facts about it that are unknown

	// Origin are the members of a record for programs: operator, size, data, device, code.
	Origin map[string]any `json:"-"`
}

// Notes is the block as lines.
func (e Environment) Notes() []string {
	notes := []string{
		"method: " + e.Method,
		"device: " + e.Device + "; data: " + e.Data + "; code: " + e.PTX + ", " + e.Commit + ", " + e.Host + "; date: " + e.Date,
	}
	for _, variant := range e.NotRun {
		notes = append(notes, "not run: "+variant)
	}
	notes = append(notes, e.Beside...)
	return notes
}
