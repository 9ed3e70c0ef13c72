// Package loop finds the loop in which a kernel spends its time, in PTX or in machine
// code, and counts its instructions: the products of cores or tensor cores, or the
// atomics in shared memory of a histogram. Of returns a Loop; ops/ladder and
// ops/cmd/machine call it. It reads text only: it assembles and disassembles nothing,
// and must never import ops/ladder.
package loop

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Instruction is a line of an entry.
type Instruction struct {
	Text   string // without its end and comments
	To     int    // the index that it branches to, -1 for no branch
	Always bool   // branches without a condition, or ends the entry
}

// Loop counts the innermost loop that works most. Instructions are those of the
// shortest way through it: not those of an edge of a matrix, or of what only the last
// turn does. All are those, too.
type Loop struct {
	Instructions, All int
	FMA               int      // instructions that work: products, or atomics in shared memory
	Work              string   `json:",omitempty"` // the name of their operation, "" for products of float32
	BankWaits         int      `json:",omitempty"` // cycles that FFMA wait for a register bank, of machine code
	Excerpt           []string // its first instructions that work, and what stands just before them
}

// Kind is a sort of work, with the opcodes of machine code and of PTX that do it.
type Kind struct{ Name, Machine, PTX string }

// kinds are the kinds of work. The first kind that a loop of an entry does is its work: a
// kernel on tensor cores has products of float32 beside.
var kinds = []Kind{
	{"tensor", "HMMA IMMA HGMMA IGMMA QGMMA DMMA BMMA", "mma wmma.mma wgmma.mma_async"},
	{"", "FFMA", "fma.rn.f32"},
	{"shared atomic", "ATOMS", "atom.shared red.shared"},
}

// opcode returns the opcode of the kind that an instruction has, "" if it has none.
func (k Kind) opcode(text string) string {
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
	}
	whole, _, _ := strings.Cut(text, " ")
	for _, one := range strings.Fields(k.Machine + " " + k.PTX) {
		if whole == one || strings.HasPrefix(whole, one+".") {
			return one
		}
	}
	return ""
}

// Opcode returns the opcode of the loop's first instruction that works: "FFMA", "HGMMA".
func (l Loop) Opcode() string {
	for _, kind := range kinds {
		for _, text := range l.Excerpt {
			if opcode := kind.opcode(text); kind.Name == l.Work && opcode != "" {
				return opcode
			}
		}
	}
	return ""
}

// A reader needs to see so many lines of a loop, so many before it works.
const excerpt, before = 10, 2

// Share is the share of the instructions that work.
func (l Loop) Share() float64 { return float64(l.FMA) / float64(l.Instructions) }

// Of finds the loop of an entry; it has no instructions where no loop works.
func Of(code []Instruction) Loop {
	loops := innermost(code)
	for _, kind := range kinds {
		if most := of(code, loops, kind); most.FMA > 0 {
			return most
		}
	}
	return Loop{}
}

func of(code []Instruction, loops map[int]int, kind Kind) (most Loop) {
	for _, from := range slices.Sorted(maps.Keys(loops)) {
		to := loops[from]
		l := Loop{Instructions: shortest(code, from, to), All: to - from + 1, Work: kind.Name, BankWaits: bankWaits(code[from : to+1])}
		for i := from; i <= to; i++ {
			if kind.opcode(code[i].Text) == "" {
				continue
			}
			if l.FMA++; l.FMA == 1 {
				first := max(from, i-before)
				l.Excerpt = texts(code[first:min(first+excerpt, to+1)])
			}
		}
		if l.FMA > most.FMA {
			most = l
		}
	}
	return most
}

func texts(code []Instruction) (all []string) {
	for _, i := range code {
		all = append(all, i.Text)
	}
	return all
}

// innermost are the loops without another one inside, by the index of their
// first and last instruction.
func innermost(code []Instruction) map[int]int {
	loops := map[int]int{}
	for i, in := range code {
		if in.To >= 0 && in.To < i {
			loops[in.To] = i
		}
	}
	for from, to := range loops {
		for f, t := range loops {
			if f != from && from <= f && t <= to {
				delete(loops, from)
			}
		}
	}
	return loops
}

// shortest is the number of instructions on the shortest way from one to
// a later one, by branches forward.
func shortest(code []Instruction, from, to int) int {
	way := make([]int, to+1) // to each, 0 where none is known
	way[from] = 1
	reach := func(i, length int) {
		if i <= to && (way[i] == 0 || length < way[i]) {
			way[i] = length
		}
	}
	for i := from; i < to; i++ {
		if way[i] == 0 {
			continue
		}
		if code[i].To > i {
			reach(code[i].To, way[i]+1)
		}
		if !code[i].Always {
			reach(i+1, way[i]+1)
		}
	}
	return way[to]
}

var source = regexp.MustCompile(`^[-|]*R(\d+)(\.reuse)?`)

// bankWaits is the number of cycles that FFMA wait for their registers, by a model: the
// register file has two banks, of even and of odd registers, and each gives one
// register per cycle; what the instruction before has marked for reuse in the same
// place comes from a cache. NVIDIA documents no banks, and a rung is faster than the
// model allows (ops/gemm/notes.md).
func bankWaits(code []Instruction) (waits int) {
	var kept [3]string // by place, from the instruction before
	for _, in := range code {
		text := in.Text
		if strings.HasPrefix(text, "@") {
			_, text, _ = strings.Cut(text, " ")
		}
		opcode, operands, _ := strings.Cut(text, " ")
		var keeps [3]string
		var asked [2][]string // by bank
		for place, operand := range sources(operands) {
			m := source.FindStringSubmatch(operand)
			if m == nil {
				continue
			}
			if m[2] != "" {
				keeps[place] = m[1]
			}
			number, _ := strconv.Atoi(m[1])
			if bank := &asked[number%2]; kept[place] != m[1] && !slices.Contains(*bank, m[1]) {
				*bank = append(*bank, m[1])
			}
		}
		if opcode == "FFMA" {
			waits += max(0, len(asked[0])-1, len(asked[1])-1)
		}
		kept = keeps
	}
	return waits
}

// sources are the up to three operands after the first.
func sources(operands string) []string {
	all := strings.Split(operands, ", ")
	return all[min(1, len(all)):min(4, len(all))]
}
