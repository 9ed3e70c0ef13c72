package transpose

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T)       { optest.Run(t, Operator) }
func TestConformanceCopy(t *testing.T)   { optest.Run(t, Copy) }
func TestConformanceTrials(t *testing.T) { optest.Run(t, Trials) }

// counted returns the counters of the trials at a size.
func counted(t *testing.T, size ...int) map[string]gpu.Counters {
	t.Helper()
	counts, err := optest.NewBench(t, optest.Emulator(t), Trials, 1, size...).Count()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]gpu.Counters{}
	for _, row := range counts.Rows {
		all[row.Name] = row.Total
	}
	return all
}

// Note 002 explains the speed of the coalesced write by __ldg. Without __restrict__
// the compiler does not use it, with __restrict__ it does; requests, sectors and lines
// are the same.
func TestLdgChangesNoRequest(t *testing.T) {
	of := counted(t, 256, 256)
	plain := of["transpose_write_plain"]
	for name, load := range map[string]string{
		"transpose_coalesced_write": "ld.global.nc.f32", "transpose_write_plain": "ld.global.f32", "transpose_write_ldg": "ld.global.nc.f32",
	} {
		c := of[name]
		if c.GlobalLoad != plain.GlobalLoad || c.GlobalStore != plain.GlobalStore || c.GlobalLoad.Requests != 256*256/32 {
			t.Errorf("%s: loads %v, stores %v, expected %v and %v", name, c.GlobalLoad, c.GlobalStore, plain.GlobalLoad, plain.GlobalStore)
		}
		if loads := loadsOf(t, name); len(loads) != 1 || loads[0] != load {
			t.Errorf("%s: loads by %v, expected %s alone", name, loads, load)
		}
	}
}

// loadsOf returns the load instructions of global memory of an entry.
func loadsOf(t *testing.T, name string) []string {
	t.Helper()
	for _, v := range Trials.Variants {
		if v.Name != name {
			continue
		}
		text, err := Trials.PTXFiles(Trials.ModuleOf(v))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(text[0].Text, ".entry "+name+"(")
		body, _, _ = strings.Cut(body, "\n}")
		return regexp.MustCompile(`ld\.global[.\w]*`).FindAllString(body, -1)
	}
	t.Fatalf("no trial %s", name)
	return nil
}

// Trials of the swizzle keep its sectors and have no bank conflicts either.
func TestTrialsWithoutConflicts(t *testing.T) {
	of := counted(t, 256, 256)
	swizzle := of["transpose_swizzle"]
	for _, name := range []string{"transpose_swizzle", "transpose_16_warps", "transpose_tma"} {
		c, ok := of[name]
		if !ok || c.SharedLoad.Requests == 0 || c.SharedLoad.Conflicts != 0 || c.SharedStore.Conflicts != 0 {
			t.Errorf("%s: shared loads %v, stores %v, expected no conflicts", name, c.SharedLoad, c.SharedStore)
		}
		if c.GlobalStore.Sectors != swizzle.GlobalStore.Sectors {
			t.Errorf("%s: %d sectors written, expected %d", name, c.GlobalStore.Sectors, swizzle.GlobalStore.Sectors)
		}
	}
	if tma := of["transpose_tma"]; tma.GlobalLoad.Requests != 0 || tma.SharedStore.Requests != 0 {
		t.Errorf("transpose_tma: threads load %v and store %v, expected the copy engine to do both", tma.GlobalLoad, tma.SharedStore)
	}
}

// Why transpose_shared is slower than transpose_coalesced_write on an H200, as notes.md
// says it: the 32 floats of a column lie in one bank, so a load takes 31 wavefronts more
// than that of transpose_padded, which differs in nothing else. At one wavefront a cycle
// they take nearly the time by which the two differ.
func TestConflictsExplainShared(t *testing.T) {
	const n, multiprocessors, megahertz = 256, 132, 1980
	counts, err := optest.NewBench(t, optest.Emulator(t), Operator, 1, n, n).Count("transpose_coalesced_write", "transpose_shared", "transpose_padded")
	if err != nil {
		t.Fatal(err)
	}
	write, shared, padded := counts.Rows[0].Total, counts.Rows[1].Total, counts.Rows[2].Total
	const warps = n * n / 32
	if shared.SharedLoad.Requests != warps || shared.SharedLoad.Wavefronts != 32*warps || padded.SharedLoad.Wavefronts != warps {
		t.Errorf("%d loads of shared memory take %d wavefronts, padded %d, expected %d, %d and %d",
			shared.SharedLoad.Requests, shared.SharedLoad.Wavefronts, padded.SharedLoad.Wavefronts, warps, 32*warps, warps)
	}
	if shared.GlobalLoad != padded.GlobalLoad || shared.GlobalStore != padded.GlobalStore || shared.SharedStore != padded.SharedStore || shared.WarpInstructions != padded.WarpInstructions {
		t.Errorf("shared %+v and padded %+v differ in more than their loads of shared memory", shared, padded)
	}
	if write.GlobalLoad.Sectors != 32*warps || write.SharedLoad.Requests != 0 || write.Barriers != 0 || shared.Barriers == 0 {
		t.Errorf("coalesced write %+v, expected 32 sectors a load, no shared memory and no barrier", write)
	}

	us := measured(t, "transpose_times.h200", "[4096,4096]")
	more := 31 * 4096.0 * 4096 / 32 / multiprocessors / megahertz
	slower := us["transpose_shared"] - us["transpose_padded"]
	if us["transpose_shared"] <= us["transpose_coalesced_write"] || slower > more || slower < 0.8*more {
		t.Errorf("conflicts cost %.1f us, expected 0.8 to 1 times %.1f", slower, more)
	}
	notes, err := files.ReadFile("notes.md")
	if err != nil {
		t.Fatal(err)
	}
	says := fmt.Sprintf("%.1f us at one wavefront per cycle; it is %.1f us slower", more, slower)
	if !strings.Contains(string(notes), says) {
		t.Errorf("notes.md does not say %q", says)
	}
}

// measured returns the times of a size of a measured file, in us.
func measured(t *testing.T, name, size string) map[string]float64 {
	t.Helper()
	text, err := files.ReadFile("measured/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var run struct {
		Times []struct {
			Size json.RawMessage
			US   map[string]float64
		}
	}
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	for _, of := range run.Times {
		if string(of.Size) == size {
			return of.US
		}
	}
	t.Fatalf("%s has no size %s", name, size)
	return nil
}
