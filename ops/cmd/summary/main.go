// Command summary writes ops/published/summary.md: each experiment of the founding
// notes beside the committed figures of an H200, with a verdict.
//
//	go run ./ops/cmd/summary > ops/published/summary.md
//
// The notes' GPU is not ours, or is not named, so their times are compared with no time
// of ours. What can be compared is which of two kernels is faster: reproduced,
// contradicted with the reason, or undecided. A test fails when the file is stale. It measures nothing.
package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"warpbook/ops"
	"warpbook/ops/ladder"
	"warpbook/ops/published"
	"warpbook/ops/results"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

// step is a pair of kernels of the notes, the second after the first.
type step struct {
	from, to           string // kernels of the notes
	place              string // of both figures; "": any
	run                string // the committed figures
	size, publishedFor []int  // of ours, and of the notes' figures, nil if they do not say it
	why                string // of a contradiction
}

const unknownCause = "cause not known: this note does not name its GPU, so it cannot be tried there"

func steps() (list []step) {
	const n = 25_600_000
	rungs := []string{"SerialKernel", "reduce_v0", "reduce_v1", "reduce_v3", "reduce_v4", "reduce_v5", "reduce_warp_level", "reduce_v6"} // in the order of the list
	for i := range rungs[1:] {
		list = append(list, step{"000 " + rungs[i], "000 " + rungs[i+1], "list", "reduce_ladder.h200", []int{n}, []int{n}, unknownCause})
	}
	for _, f := range published.All() { // note 002 times the CPU and one kernel
		if f.Note == "002" && f.Experiment == "reduce" && f.Unit == "ms" && f.Kernel != "002 CPU" {
			list = append(list, step{"002 CPU", f.Kernel, "", "reduce_ladder.h200", []int{n}, f.Size, unknownCause})
		}
	}
	transposes := []string{"002 transpose1", "002 transpose2", "002 transpose shared", "002 transpose padded"}
	for i := range transposes[1:] {
		list = append(list, step{transposes[i], transposes[i+1], "", "transpose_times.h200", []int{4096, 4096}, nil, unknownCause})
	}
	for _, n := range []int{256, 512, 1024, 2048} {
		blocks := (n / 128) * (n / 128)
		why := fmt.Sprintf("likely because its tiles of 128 x 128 are %d blocks for the 132 multiprocessors of an H200; the notes' GPU is a smaller one", blocks)
		size := []int{n, n, n}
		list = append(list, step{"003 gemm_baseline_kernel", "003 gemm_kernel, second listing", "without profiler", "gemm_ladder.h200", size, size, why})
	}
	return list
}

// variantOf returns our rung of a kernel of the notes: the first whose published
// figures are those of the kernel.
func variantOf(kernel string) (string, error) {
	for _, f := range published.All() {
		if f.Kernel != kernel {
			continue
		}
		figures := ladder.Published(kernel, f.Quantity)
		for _, o := range ops.Operators() {
			for _, v := range o.Variants {
				if reflect.DeepEqual(v.Published, figures) {
					return v.Name, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no variant has the published figures of %q", kernel)
}

// figure returns the number that the notes print for a kernel, as a time.
func (s step) figure(kernel string) (published.Figure, error) {
	for _, f := range published.All() {
		time := f.Quantity == "latency" || f.Quantity == "time"
		if f.Kernel == kernel && time && f.Value > 0 && (s.place == "" || f.Place == s.place) && slices.Equal(f.Size, s.publishedFor) {
			return f, nil
		}
	}
	return published.Figure{}, fmt.Errorf("no time of %q for %v, expected one in notes.json", kernel, s.publishedFor)
}

// measured returns how many times as fast our second rung is, and whether the two
// are known to differ: their intervals lie apart, or the medians by 5 % where the
// committed figures have no intervals.
func (s step) measured(from, to string) (ratio float64, differ bool, err error) {
	m, err := ops.MeasuredRun(s.run)
	if err != nil {
		return 0, false, err
	}
	for _, t := range m.Times {
		if slices.Equal(t.Size, s.size) {
			ratio = t.Rate(to) / t.Rate(from)
		}
	}
	if math.IsNaN(ratio) || ratio == 0 {
		return 0, false, fmt.Errorf("%s has no figures of %s and %s for %v", s.run, from, to, s.size)
	}
	switch m.Verdict(to, from, s.size...) {
	case results.Faster, results.Slower:
		return ratio, true, nil
	case results.Same:
		return ratio, false, nil
	}
	return ratio, math.Abs(ratio-1) >= 0.05, nil
}

func write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# The notes' experiments on an H200

Written by ` + "`go run ./ops/cmd/summary`" + ` from [notes.json](notes.json) and the committed figures of an NVIDIA H200; a test holds it to both.

Note 003 names an NVIDIA GeForce RTX 4060 Laptop GPU; the other notes name none. A time of theirs is therefore not compared with a time of ours. What is compared is which of two kernels is faster, and the ratio is shown beside. *Reproduced*: the same one is faster on the H200. *Contradicted*: the other one is. *Undecided*: on the H200 the intervals overlap, or medians without intervals differ by less than 5 %. Times of reduce on the H200 are of all launches; the notes time the first. Below 1x the second kernel is slower.

| notes | second kernel after first | notes' size | notes | H200 | our variants, size | verdict |
| --- | --- | --- | --- | --- | --- | --- |
`)
	compared := map[string]bool{}
	for _, s := range steps() {
		row, err := s.row(compared)
		if err != nil {
			return err
		}
		b.WriteString(row)
	}
	if err := writeOtherBlocks(&b); err != nil {
		return err
	}
	writeOthers(&b, compared)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeOtherBlocks gives the ratios of note 003 for the other block of its first kernel:
// the note prints no launch of it.
func writeOtherBlocks(b *strings.Builder) error {
	var ratios []string
	var from, other string
	for _, s := range steps() {
		if !strings.HasPrefix(s.from, "003") {
			continue
		}
		var err error
		if from, err = variantOf(s.from); err != nil {
			return err
		}
		to, err := variantOf(s.to)
		if err != nil {
			return err
		}
		other = strings.TrimSuffix(from, "16") + "32"
		ratio, _, err := s.measured(other, to)
		if err != nil {
			return err
		}
		ratios = append(ratios, fmt.Sprintf("%.2fx at %d", ratio, s.size[0]))
	}
	fmt.Fprintf(b, "\nNote 003 prints no launch of its first kernel. `%s`, with blocks of 16 x 16, stands for it. Against `%s`, with blocks of 32 x 32, the H200 gives %s.\n",
		from, other, strings.Join(ratios, ", "))
	return nil
}

func (s step) row(compared map[string]bool) (string, error) {
	from, err := s.figure(s.from)
	if err != nil {
		return "", err
	}
	to, err := s.figure(s.to)
	if err != nil {
		return "", err
	}
	compared[key(from)], compared[key(to)] = true, true
	ourFrom, err := variantOf(s.from)
	if err != nil {
		return "", err
	}
	ourTo, err := variantOf(s.to)
	if err != nil {
		return "", err
	}
	ratio, differ, err := s.measured(ourFrom, ourTo)
	if err != nil {
		return "", err
	}
	theirs := from.Value / to.Value
	verdict := "undecided"
	switch {
	case differ && (theirs > 1) == (ratio > 1):
		verdict = "reproduced"
	case differ:
		verdict = "contradicted: " + s.why
	}
	name := func(kernel string) string { _, name, _ := strings.Cut(kernel, " "); return name }
	return fmt.Sprintf("| %s %s | %s after %s | %s | %s to %s, %.2fx | %.2fx | `%s` after `%s`, %s | %s |\n",
		from.Note, from.Section[strings.IndexFunc(from.Section, func(r rune) bool { return r != '#' && r != ' ' }):],
		name(s.to), name(s.from), sizeText(s.publishedFor), from, to, theirs, ratio, ourTo, ourFrom, sizeText(s.size), verdict), nil
}

func key(f published.Figure) string {
	return fmt.Sprint(f.Kernel, f.Quantity, f.Value, f.Size, f.Place)
}

func sizeText(size []int) string {
	if len(size) == 0 {
		return "not given"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(size), " ", " x "), "[]")
}

// writeOthers lists the figures of the notes that are in no comparison, by reason.
func writeOthers(b *strings.Builder, compared map[string]bool) {
	b.WriteString("\n## Not comparable\n\n| experiment | reason | kernels | figures |\n| --- | --- | --- | --- |\n")
	type group struct{ experiment, reason string }
	var order []group
	kernels, counts := map[group][]string{}, map[group]int{}
	for _, f := range published.All() {
		if compared[key(f)] {
			continue
		}
		g := group{f.Experiment, reason(f)}
		if counts[g]++; counts[g] == 1 {
			order = append(order, g)
		}
		if !slices.Contains(kernels[g], f.Kernel) {
			kernels[g] = append(kernels[g], f.Kernel)
		}
	}
	for _, g := range order {
		fmt.Fprintf(b, "| %s | %s | %s | %d |\n", g.experiment, g.reason, strings.Join(kernels[g], ", "), counts[g])
	}
}

// device returns the device of a figure in words.
func device(f published.Figure) string {
	if strings.HasPrefix(f.Device, "CPU") {
		return "a CPU that is not named"
	}
	return cmp.Or(f.Device, "a GPU that is not named")
}

// reason returns why a figure is in no comparison.
func reason(f published.Figure) string {
	switch {
	case strings.Contains(f.Place, "ncu"):
		return "timed under a profiler, which adds its own work to each launch"
	case f.Comment == "stated, not measured" || strings.HasPrefix(f.Comment, "stated, not measured"):
		return "stated by the notes, not measured by them"
	case f.Value > 0:
		return "a time or rate of " + device(f) + "; the pairs above have what can be compared"
	case f.Words != "":
		return "in words, without a number"
	}
	return "only in an image that is not among the notes"
}
