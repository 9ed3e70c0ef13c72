package hang

import "testing"

// machine is a block of one warp whose state is a number.
type machine struct {
	next     func(m *machine) // a pass
	value    uint32
	other    Fragment // of lanes that have not run; no lanes for none
	yielded  int
	changes  uint64
	ticks    uint64
	activity uint64
	careful  bool
}

func (m *machine) Warps() int       { return 1 }
func (m *machine) Carry(int) uint32 { return 0 }
func (m *machine) Fragments(int) int {
	if m.other.Mask != 0 {
		return 2
	}
	return 1
}
func (m *machine) Fragment(_, i int) Fragment {
	if i == 1 {
		return m.other
	}
	return Fragment{PC: 7, Mask: 1}
}
func (m *machine) Decisive(_, _ int, visit func(uint32) bool) { visit(m.value) }
func (m *machine) CanRun(_, _ int) bool                       { return true }
func (m *machine) Yield(_, _ int)                             { m.yielded++; m.other.Mask = 0 }
func (m *machine) Changes() uint64                            { return m.changes }
func (m *machine) Ticks() uint64                              { return m.ticks }
func (m *machine) SetCareful(careful bool)                    { m.careful = careful }
func (m *machine) Activity() uint64                           { return m.activity }
func (m *machine) Stir()                                      { m.activity++ }

// watch looks at passes of a machine until there is a verdict.
func watch(m *machine, s *Watch, passes int) Verdict {
	for range passes {
		s.Runs()
		m.next(m)
		if s.On {
			s.Ran[0] |= 1
		}
		if v := s.Look(m); v != Unknown {
			return v
		}
	}
	return Unknown
}

func TestWatch(t *testing.T) {
	for name, c := range map[string]struct {
		next func(m *machine)
		want Verdict
	}{
		"same state":           {func(m *machine) {}, Quiet},
		"period of 3":          {func(m *machine) { m.value = (m.value + 1) % 3 }, Quiet},
		"counter":              {func(m *machine) { m.value++ }, GaveUp},
		"changes memory":       {func(m *machine) { m.changes++ }, GaveUp},
		"clock that decides":   {func(m *machine) { m.ticks++ }, GaveUp},
		"others change memory": {func(m *machine) { m.activity++ }, Unknown},
	} {
		m, s := &machine{next: c.next}, &Watch{}
		if got := watch(m, s, 3*watchedPasses); got != c.want {
			t.Errorf("%s: %d, expected %d", name, got, c.want)
		}
		if got := s.Quiet(m.activity); got != (c.want == Quiet) {
			t.Errorf("%s: quiet %v", name, got)
		}
		s.Reset(m)
		if m.careful || s.IsQuiet() || s.On {
			t.Errorf("%s: it is watched after a reset", name)
		}
	}
}

// TestOthersGetTheirTurn: lanes that could run and have not get a turn before a block is quiet.
func TestOthersGetTheirTurn(t *testing.T) {
	m, s := &machine{next: func(*machine) {}, other: Fragment{PC: 9, Mask: 2}}, &Watch{}
	if got := watch(m, s, watchedPasses); got != Quiet || m.yielded != 1 {
		t.Errorf("verdict %d after %d yields, expected %d after 1", got, m.yielded, Quiet)
	}
}

// TestWake: a quiet block whose launch was active is looked at again.
func TestWake(t *testing.T) {
	m, s := &machine{next: func(*machine) {}}, &Watch{}
	if got := watch(m, s, watchedPasses); got != Quiet {
		t.Fatalf("verdict %d, expected %d", got, Quiet)
	}
	if s.Wake(m); !s.IsQuiet() {
		t.Error("it is not quiet without activity")
	}
	m.Stir()
	if s.Wake(m); s.IsQuiet() {
		t.Error("it is quiet after activity")
	}
	if got := watch(m, s, watchedPasses); got != Quiet {
		t.Errorf("verdict %d, expected %d again", got, Quiet)
	}
}
