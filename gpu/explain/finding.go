package explain

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"warpbook/gpu"
)

// The kinds of finding.
const (
	BankConflict = "bank conflict"
	Uncoalesced  = "uncoalesced access"
	SharedAccess = "shared access" // without a conflict, of Report.Access
)

// Finding is a source line with instructions that cost more than their data needs.
// It has a plot of one request, or of the patterns of a branch, and remedies.
type Finding struct {
	Kind         string
	At           string   // the CUDA source line, or that of the PTX
	Text         string   // of the source line, "" where it is not known
	Instructions []string // "ld.shared.f32"
	PTX          []int    // their lines

	// Cost is the cost of the requests with known patterns, in wavefronts or sectors, or of
	// the branches with known patterns, in passes of a warp. Best is their cost with the same
	// data, or lanes that go the same way, side by side.
	Cost, Best uint64

	Request  gpu.Request  // the pattern that costs most beyond its best
	Branches []gpu.Branch // of a Divergence, the most frequent first
	Remedies []Remedy     // the best first

	entry    string
	requests []gpu.Request
	others   uint64 // requests or divergent branches whose patterns are not known
}

// findings are those of all launches, by their cost above the possible minimum.
func findings(profiles []gpu.Profile, texts map[string][]string) (found []*Finding) {
	type key struct{ entry, kind, at, memory string }
	known := map[key]*Finding{}
	for _, p := range profiles {
		for i := range p.Instructions {
			in := &p.Instructions[i]
			for _, r := range in.Requests {
				if !exceeds(in, r.Shared) {
					continue
				}
				k := key{entry: p.Entry, kind: Uncoalesced, at: placeOf(&p, in)}
				if r.Shared {
					k.kind, k.memory = BankConflict, r.Memory
				}
				if known[k] == nil {
					known[k] = &Finding{Kind: k.kind, At: k.at, entry: p.Entry}
					found = append(found, known[k])
				}
				known[k].add(in, r)
			}
		}
	}
	found = append(found, divergences(profiles)...)
	for _, f := range found {
		f.finish(profiles, texts)
	}
	slices.SortStableFunc(found, func(a, b *Finding) int { return cmp.Compare(b.Cost-b.Best, a.Cost-a.Best) })
	return found
}

// placeOf is the source line of an instruction, or else its line of the PTX.
func placeOf(p *gpu.Profile, in *gpu.InstructionProfile) string {
	if in.Source != "" {
		return in.Source
	}
	return fmt.Sprintf("%s:%d", p.File, in.Line)
}

// exceeds reports whether requests of an instruction to a space cost more than
// they must.
func exceeds(in *gpu.InstructionProfile, shared bool) bool {
	return slices.ContainsFunc(in.Requests, func(r gpu.Request) bool { return r.Shared == shared && excess(&r) > 0 })
}

// add adds a pattern of an instruction's requests.
func (f *Finding) add(in *gpu.InstructionProfile, r gpu.Request) {
	if !slices.Contains(f.Instructions, in.Name) {
		f.Instructions = append(f.Instructions, in.Name)
	}
	if !slices.Contains(f.PTX, in.Line) {
		f.PTX = append(f.PTX, in.Line)
		f.others += in.Others
	}
	f.requests = append(f.requests, r)
	cost, best := r.Cost(), r.Count*uint64(leastCost(&r))
	f.Cost, f.Best = f.Cost+cost, f.Best+best
	if f.Request.Count == 0 || (cost-best)/r.Count > excess(&f.Request) {
		f.Request = r
	}
}

func (f *Finding) finish(profiles []gpu.Profile, texts map[string][]string) {
	slices.Sort(f.PTX)
	if file, line, ok := splitPlace(f.At); ok {
		f.Text = textOf(texts, file, line)
	}
	switch f.Kind {
	case BankConflict:
		f.Remedies = sharedRemedies(profiles, f)
	case Uncoalesced:
		f.Remedies = globalRemedies(profiles, f)
	case Divergence:
		f.Remedies = divergenceRemedies(f)
	}
}

// Access draws what a source line, such as "gemm.cu:135", asks of a variable in
// shared memory, whether lanes conflict or not: the picture is of the request
// that costs most.
func (r *Report) Access(at, memory string) (*Finding, error) {
	f := &Finding{Kind: SharedAccess, At: at}
	for _, p := range r.profiles {
		for i := range p.Instructions {
			in := &p.Instructions[i]
			for _, request := range in.Requests {
				if in.Source == at && request.Shared && request.Memory == memory {
					f.entry = p.Entry
					f.add(in, request)
				}
			}
		}
	}
	if len(f.requests) == 0 {
		return nil, fmt.Errorf("explain: %s: shared memory %s: %w: no request of the line is known", at, memory, gpu.ErrNotFound)
	}
	if f.Cost > f.Best {
		f.Kind = BankConflict
	}
	f.finish(r.profiles, r.texts)
	return f, nil
}

// excess is the cost of one request of the pattern beyond its best.
func excess(r *gpu.Request) uint64 { return r.Cost()/r.Count - uint64(leastCost(r)) }

// leastCost is one wavefront a group of lanes, or as many sectors as the
// bytes that are asked for fill.
func leastCost(r *gpu.Request) int {
	if r.Shared {
		return len(r.Groups())
	}
	return (len(distinct(&r.Pattern))*r.Bytes + 31) / 32
}

// distinct are the addresses that lanes ask for, ascending.
func distinct(p *gpu.Pattern) []uint64 {
	var all []uint64
	for m := p.Mask; m != 0; m &= m - 1 {
		all = append(all, p.Address[bits.TrailingZeros32(m)])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unit is the unit of the finding's cost.
func (f *Finding) unit(n uint64) string {
	unit := "sectors"
	switch {
	case f.Kind == Divergence:
		unit = "passes"
	case f.Request.Shared:
		unit = "wavefronts"
	}
	if n == 1 {
		unit = strings.TrimSuffix(strings.TrimSuffix(unit, "s"), "se")
	}
	return solid(n) + " " + unit
}

// Title names the instructions and their cost in one line.
func (f *Finding) Title() string {
	return fmt.Sprintf("%s at %s (%s; PTX %s): %s, %s at best", f.Kind, f.At, strings.Join(f.Instructions, ", "),
		few(f.PTX), f.unit(f.Cost), solid(f.Best))
}

// Notes are the source line, the picture's request, which lanes collide, and
// the remedies.
func (f *Finding) Notes() []string {
	r := &f.Request
	var notes []string
	if f.Text != "" {
		notes = append(notes, f.Text)
	}
	if f.Kind == Divergence {
		notes = append(notes, f.branchNotes()...)
		return append(notes, f.remedyNotes()...)
	}
	name := r.Memory
	if name == "" {
		name = map[bool]string{true: "shared memory", false: "global memory"}[r.Shared]
	}
	cost := f.unit(r.Cost() / r.Count)
	if r.Count > 1 {
		notes = append(notes, fmt.Sprintf("Shown: the request that costs most, %s on %s; of warp %d in block %v, and of %s others.",
			cost, name, r.Warp, r.Block, solid(r.Count-1)))
	} else {
		notes = append(notes, fmt.Sprintf("Shown: the request that costs most, %s on %s; of warp %d in block %v.", cost, name, r.Warp, r.Block))
	}
	if f.Kind == BankConflict {
		notes = append(notes, collision(&r.Pattern))
	}
	return append(notes, f.remedyNotes()...)
}

func (f *Finding) remedyNotes() (notes []string) {
	for _, remedy := range f.Remedies {
		notes = append(notes, "Remedy: "+remedy.String()+".")
	}
	return notes
}

// collision names the lanes that ask one bank for different words, of the bank
// that is asked for most, and counts the other banks of which a group of lanes asks several.
func collision(p *gpu.Pattern) string {
	worst, bank, banks := []askedWord(nil), 0, uint32(0)
	for _, group := range p.Groups() {
		for b, words := range wordsOf(p, group) {
			if len(words) > 1 {
				banks |= 1 << b
			}
			if len(words) > len(worst) {
				worst, bank = words, b
			}
		}
	}
	var parts []string
	for i, w := range worst {
		if i == 4 && len(worst) > 5 {
			parts = append(parts, fmt.Sprintf("%d more words", len(worst)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("word %d (%s)", w.word, lanes(w.lanes)))
	}
	words := strings.Join(parts, ", ")
	if others := bits.OnesCount32(banks &^ (1 << bank)); others > 0 {
		return fmt.Sprintf("Bank %d is asked for %s; %d other banks are asked for more than one word, too.", bank, words, others)
	}
	return fmt.Sprintf("Bank %d is asked for %s.", bank, words)
}

// askedWord is a word of a bank and the lanes that ask for it.
type askedWord struct {
	word  uint64
	lanes uint32
}

// wordsOf are the distinct words that lanes of a group ask of each bank, in
// the order of the lanes: each takes a wavefront.
func wordsOf(p *gpu.Pattern, group uint32) (banks [32][]askedWord) {
	for m := group; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		first := p.Address[lane] / 4
		for word := first; word <= first+uint64(p.Bytes-1)/4; word++ {
			bank := &banks[word%32]
			i := slices.IndexFunc(*bank, func(w askedWord) bool { return w.word == word })
			if i < 0 {
				i = len(*bank)
				*bank = append(*bank, askedWord{word: word})
			}
			(*bank)[i].lanes |= 1 << lane
		}
	}
	return banks
}

// lanes names the lanes of a mask: "lane 3", "lanes 0-7, 16".
func lanes(mask uint32) string {
	var numbers []int
	for m := mask; m != 0; m &= m - 1 {
		numbers = append(numbers, bits.TrailingZeros32(m))
	}
	if len(numbers) == 1 {
		return fmt.Sprintf("lane %d", numbers[0])
	}
	return "lanes " + rangesOf(numbers)
}
