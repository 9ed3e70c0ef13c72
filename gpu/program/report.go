//go:build linux

package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/program/wire"
	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/lazyregexp"
)

// reporter writes what the emulator finds, one line each, and each once. The server's
// goroutine owns it.
type reporter struct {
	out     io.Writer
	program *Program
	places  *places // of the program's file; nil before the first line that needs it
	said    map[string]bool
	leaks   []leak
	unasked uint64 // the error that the program never asked for, 0 for none
	found   int    // faults, warnings and failed calls
	pid     int    // of the program
	stop    func() // ends the program at a fault or a warning; nil leaves it running
	stopped bool
}

type leak struct {
	place string
	bytes uint64
	count int
}

// place is the line of a call in the sources, "" if it is unknown.
func (r *reporter) place(here uint64) string {
	return r.read().at(here)
}

// read reads the places of the program, once.
func (r *reporter) read() *places {
	if r.places == nil {
		r.places = newPlaces(r.program.path, r.program.Sources)
	}
	return r.places
}

// say writes a line, unless it was written before.
func (r *reporter) say(format string, args ...any) {
	line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	if r.said[line] {
		return
	}
	r.said[line] = true
	r.found++
	fmt.Fprintln(r.out, line)
}

// before is a place as the beginning of a line.
func before(place string) string {
	if place == "" {
		return "warpbook: "
	}
	return place + ": "
}

// fault reports the error of a launch or of other work.
func (r *reporter) fault(here uint64, err error) {
	if errors.Is(err, gpu.ErrInterrupted) {
		return
	}
	text := strings.TrimPrefix(demangled(err.Error()), "gpu: ")
	if m := noBuffer().FindStringSubmatch(text); m != nil {
		if what := r.hostMemory(m[1]); what != "" {
			text = strings.Replace(text, m[0], fmt.Sprintf("address %s is memory of the host (%s): copy it by cudaMemcpy to memory of cudaMalloc", m[1], what), 1)
		}
	}
	r.say("%s%s%s", text, r.quote(err), launchedAt(r.place(here)))
	r.end()
}

// end ends the program where it must not go on.
func (r *reporter) end() {
	if r.stop != nil && !r.stopped {
		r.stopped = true
		r.stop()
	}
}

// noBuffer is the fact of an address that the emulator does not know.
var noBuffer = lazyregexp.New(`address (0x[0-9a-f]+) is in no buffer(?:: a null pointer, or an offset without one)?`)

// hostMemory names the memory of the program's host that an address lies in, "" if it is in
// none.
func (r *reporter) hostMemory(address string) string {
	at, err := strconv.ParseUint(address, 0, 64)
	if err != nil || r.pid == 0 {
		return ""
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", r.pid))
	if err != nil {
		return "" // it has ended
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil || at < from || at >= to {
			continue
		}
		switch {
		case strings.Contains(line, "[stack]"):
			return "its stack"
		case strings.Contains(line, r.program.path):
			return "a variable of the program"
		}
		return "its heap"
	}
	return ""
}

// warn reports a defect that ends no launch.
func (r *reporter) warn(here uint64, f *gpu.Fault) {
	key := fmt.Sprint(f.Kind, f.At())
	if f.Kind != gpu.ErrRace { // one barrier is missing, whichever access of the line comes first
		key += f.Instruction
	}
	if r.said[key] {
		return
	}
	r.said[key] = true
	r.say("%s: %s%s%s", f.Severity(), strings.TrimPrefix(demangled(f.Error()), "gpu: "), r.quote(f), launchedAt(r.place(here)))
	if f.Severity() == "warning" {
		r.end()
	}
}

// warnCall reports a defect of a call that is no launch.
func (r *reporter) warnCall(here uint64, f *gpu.Fault) {
	r.say("%s%s: %s", before(r.place(here)), f.Severity(), strings.TrimPrefix(demangled(f.Error()), "gpu: "))
	if f.Severity() == "warning" {
		r.end()
	}
}

func launchedAt(place string) string {
	if place == "" {
		return ""
	}
	return "; launched at " + place
}

// quote is the line of the source that a fault names.
func (r *reporter) quote(err error) string {
	f := (*gpu.Fault)(nil)
	if !errors.As(err, &f) {
		return ""
	}
	if line := r.lineAt(f.At()); line != "" {
		return ": " + line
	}
	return ""
}

// lineAt is the line of the source at a place, "" for a place elsewhere.
func (r *reporter) lineAt(place string) string {
	for _, s := range r.program.Sources {
		var line int
		rest, ok := strings.CutPrefix(place, s.Name+":")
		if _, err := fmt.Sscan(rest, &line); !ok || err != nil {
			continue
		}
		lines := strings.Split(s.Text, "\n")
		if line -= max(1, s.FirstLine) - 1; line >= 1 && line <= len(lines) {
			return strings.TrimSpace(lines[line-1])
		}
	}
	return ""
}

// demangled gives kernels of C++ the names of the source.
func demangled(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		name := strings.TrimRight(w, ":,;")
		if strings.HasPrefix(name, "_Z") {
			words[i] = ptx.Demangle(name) + w[len(name):]
		}
	}
	return strings.Join(words, " ")
}

// plainName is the name of a variable of one source, as package clang leaves it in the PTX.
func plainName(symbol string) string { return ptx.Demangle(symbol) }

// failed reports a call that returned an error.
func (r *reporter) failed(m wire.Message) {
	text := string(m.Bytes(3, m.Value(2)))
	if other := r.place(m.Value(1)); other != "" {
		text = strings.ReplaceAll(text, "{}", other)
	}
	text = strings.ReplaceAll(text, "{}", "another call")
	if code := m.Value(0); code != 0 { // 0 is a call of the library of C
		text = fmt.Sprintf("error %d: %s", code, text)
	}
	r.say("%s%s", before(r.place(m.Here)), text)
}

// refused reports a kernel that the emulator does not run.
func (r *reporter) refused(name string, err error) {
	r.say("%s: %s", demangled(name), strings.TrimPrefix(demangled(err.Error()), "emu: "))
}

// leak notes memory that was not freed.
func (r *reporter) leak(m wire.Message) {
	place := r.place(m.Here)
	i := slices.IndexFunc(r.leaks, func(l leak) bool { return l.place == place })
	if i < 0 {
		r.leaks = append(r.leaks, leak{place: place})
		i = len(r.leaks) - 1
	}
	r.leaks[i].bytes += m.Value(0)
	r.leaks[i].count++
}

// ending reports what is left at the end. A program that ends with another status than 0 may
// have looked at each call's own result.
func (r *reporter) ending(s *server, well bool) {
	if r.unasked != 0 && well {
		r.say("advice: a call returned error %d, and the program never asked: check what each call returns, and cudaGetLastError() after a launch", r.unasked)
	}
	for _, l := range r.leaks {
		r.say("advice: %d bytes of %d calls were never freed, allocated at %s", l.bytes, l.count, l.place)
	}
	for _, line := range s.dev.HeapBlocks() {
		r.say("advice: kernels never freed %s", line)
	}
	if n := s.printed.lost; n > 0 {
		r.say("advice: the first %d bytes that kernels printed are lost: the last %d MiB between two synchronisations are kept: call cudaDeviceSynchronize() more often", n, mostPrinted>>20)
	}
	if n := s.printed.text.Len(); n > 0 {
		r.say("advice: kernels printed %d bytes after the last synchronisation: call cudaDeviceSynchronize() before the program ends", n)
	}
}

// crashes are the signals of crashes in words.
var crashes = map[int32]string{4: "illegal instruction", 6: "abort", 7: "access to memory that is not there", 8: "division by zero, or another error of integers", 11: "segmentation fault"}

// crash reports a crash of the host program.
func (r *reporter) crash(c wire.Crash) {
	text := crashes[c.Signal]
	switch {
	case c.Signal != 11:
	case c.AllocatedAt != 0:
		text = fmt.Sprintf("the host accesses memory of the device: address %#x is byte %d of the %d bytes of %s: copy them by cudaMemcpy, or allocate by cudaMallocManaged",
			c.Address, c.Address-c.Start, c.Bytes, strings.TrimPrefix(allocationName(deviceMemory, r.place(c.AllocatedAt)), "of "))
	case c.Address < 4096:
		text += fmt.Sprintf(": address %#x, a null pointer", c.Address)
	default:
		text += fmt.Sprintf(": address %#x", c.Address)
	}
	r.say("%s%s", before(r.crashPlace(c)), text)
}

// crashPlace is the line of the crash, or of the call in the sources that led to it. A word of the
// stack that comes again further out may be the place of a call that our library has noted, and
// not a return.
func (r *reporter) crashPlace(c wire.Crash) string {
	for i, at := range c.Places {
		if i > 0 && slices.Contains(c.Places[i+1:], at) {
			continue
		}
		place := ""
		if i == 0 { // the instruction itself, and not the one that a call returns to
			place = r.read().of(at)
		} else {
			place = r.place(at)
		}
		if place != "" {
			return place
		}
	}
	return ""
}
