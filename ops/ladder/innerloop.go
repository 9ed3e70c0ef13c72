package ladder

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder/loop"
)

// MachineTable shows the machine code of rungs.
type MachineTable struct {
	Rows      []MachineRow
	Assembler string // "ptxas V13.0.88 for sm_90"
	operator  string
}

// MachineRow is a rung's first entry. Its loop is the innermost one that works
// most; it has no instructions where none does. See package loop for the kinds of work.
type MachineRow struct {
	Name                  string
	Registers, SpillBytes int
	Accesses              map[string]int // instructions that access memory, by name
	Loop                  loop.Loop
}

// Machine returns registers, spills and the loops of the named rungs, all
// that have an entry for none. They are those of the committed PTX for the newest
// GPU, as machine.json of its folder has them; PTX that has changed since is an error.
func (o *Operator) Machine(variants ...string) (*MachineTable, error) {
	chosen, err := o.Choose(variants)
	if err != nil {
		return nil, err
	}
	m, err := o.MachineCode()
	if err != nil {
		return nil, err
	}
	t := &MachineTable{Assembler: m.Assembler + " for " + m.Target, operator: o.Name}
	for _, v := range chosen {
		if len(variants) == 0 && (v.Host != nil || v.Picks || v.Own != nil) {
			continue
		}
		file, err := o.newestPTX(v)
		if err != nil {
			return nil, err
		}
		e, ok := m.Entries[file.Name][v.Name]
		if !ok || e.Code != EntryHash(file.Text, v.Name) {
			return nil, fmt.Errorf("ops: %s: %s of %s: machine code: %w: run `go run ./ops/cmd/machine`", o.Name, v.Name, file.Name, gpu.ErrNotFound)
		}
		row := MachineRow{Name: v.Name, Registers: e.Registers, SpillBytes: e.SpillBytes, Accesses: e.Accesses}
		if e.Loop != nil {
			row.Loop = *e.Loop
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// newestPTX is the file with a rung's PTX for the newest GPU.
func (o *Operator) newestPTX(v Variant) (PTX, error) {
	newest := gpu.Info{Compute: gpu.Compute{Major: 9}, PTX: gpu.Version{Major: math.MaxInt32}}
	file, err := o.PTX(o.ModuleOf(v), newest)
	if err != nil {
		return PTX{}, fmt.Errorf("ops: %w", err)
	}
	return file, nil
}

// Title stands above the table.
func (t *MachineTable) Title() string { return "machine code of " + t.operator }

// float32 reports whether the loops of all rows multiply float32.
func (t *MachineTable) float32() bool {
	return !slices.ContainsFunc(t.Rows, func(r MachineRow) bool { return r.Loop.Work != "" })
}

// Notes stand below the table.
func (t *MachineTable) Notes() []string {
	does := "multiplies"
	if !t.float32() {
		does = "works"
	}
	return []string{
		"loop: instructions of the innermost one that " + does + " most, on the shortest way through it, of all: the others are for edges or the last iteration",
		"bank waits: cycles that FFMA wait because two registers lie in one bank and none of them was kept for reuse",
		"share of the roof: FFMA / (instructions + bank waits), an estimate by a model of two banks that NVIDIA does not document",
		"code: " + t.Assembler,
	}
}

// Table is one row a rung. Loops of other work than products of float32 have neither
// bank waits nor a share of the roof: one of their instructions takes many cycles.
func (t *MachineTable) Table() (columns []string, rows [][]string) {
	work := "FFMA"
	if !t.float32() {
		work = "work"
	}
	for _, r := range t.Rows {
		row := []string{r.Name, fmt.Sprint(r.Registers), fmt.Sprint(r.SpillBytes), "-", "-", "-", "-", "-"}
		if l := r.Loop; l.FMA > 0 {
			row = append(row[:3], fmt.Sprintf("%d of %d", l.Instructions, l.All), fmt.Sprint(l.FMA), percent(l.Share()), "-", "-")
			if l.Work == "" {
				row[6], row[7] = fmt.Sprint(l.BankWaits), percent(r.OfRoof())
			}
			if work != "FFMA" {
				row[4] += " " + l.Opcode()
			}
		}
		rows = append(rows, row)
	}
	return []string{"variant", "registers", "spilled bytes", "loop", work, "share", "bank waits", "share of the roof"}, rows
}

// OfRoof is the share of the roof of arithmetic that the loop could reach.
func (r MachineRow) OfRoof() float64 {
	return float64(r.Loop.FMA) / float64(r.Loop.Instructions+r.Loop.BankWaits)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// InnerLoop is an excerpt of the loop in which a rung works, as PTX and as machine
// code.
type InnerLoop struct {
	PTX, Machine loop.Loop
	Assembler    string
}

// InnerLoop returns the loop in which a rung spends its time.
func (o *Operator) InnerLoop(variant string) (*InnerLoop, error) {
	t, err := o.Machine(variant)
	if err != nil {
		return nil, err
	}
	v, err := o.Variant(variant)
	if err != nil {
		return nil, err
	}
	file, err := o.newestPTX(v)
	if err != nil {
		return nil, err
	}
	l := &InnerLoop{PTX: loop.Of(loop.PTX(entryBody(file.Text, variant))), Machine: t.Rows[0].Loop, Assembler: t.Assembler}
	if l.PTX.FMA == 0 || l.Machine.FMA == 0 {
		return nil, fmt.Errorf("ops: %s: %s: %w: it has no loop that works", o.Name, variant, gpu.ErrNotFound)
	}
	return l, nil
}

// MIMEBundle is a fenced block of Markdown each.
func (l *InnerLoop) MIMEBundle() (data, metadata map[string]any) {
	block := func(name string, of loop.Loop) string {
		return fmt.Sprintf("%s: %d of %d instructions are %s, %s\n\n```\n%s\n...\n```\n", name, of.FMA, of.Instructions, of.Opcode(),
			percent(of.Share()), strings.Join(of.Excerpt, "\n"))
	}
	text := block("PTX", l.PTX) + "\n" + block("Machine code, "+l.Assembler, l.Machine)
	return map[string]any{"text/plain": text, "text/markdown": text}, map[string]any{}
}
