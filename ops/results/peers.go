package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"warpbook/kernel/leaf/record"
	"warpbook/ops/ladder"
	"warpbook/ops/peers"
)

// Peers are the times of other libraries' code at a bench's size.
type Peers struct {
	Subject
	Figures []peers.Figure
}

// Find is the figure of a peer that was right; nil if there is none.
func (p *Peers) Find(name string) *peers.Figure {
	for i, f := range p.Figures {
		if f.Name == name && f.Verdict == ladder.Pass && f.MedianNS > 0 {
			return &p.Figures[i]
		}
	}
	return nil
}

// Title stands above the table.
func (p *Peers) Title() string { return p.title("peers") }

// Notes stand below the table.
func (p *Peers) Notes() []string { return p.Environment.Notes() }

// Table is one row a peer. Times are in microseconds.
func (p *Peers) Table() (columns []string, rows [][]string) {
	for _, f := range p.Figures {
		row := []string{f.Name, f.Verdict + ": no time", "-", "-", "-", "-", "-", dash(f.Library), dash(f.Note)}
		if f.Verdict == ladder.Pass {
			row = []string{f.Name, us(f.MedianNS), us(f.LowNS), us(f.HighNS), fmt.Sprintf("%.1f %%", 100*f.CV),
				fmt.Sprint(f.Repeats), rate(f), dash(f.Library), dash(f.Note)}
		}
		rows = append(rows, row)
	}
	return []string{"peer", "time (us)", "low", "high", "CV", "repeats", "rate", "library", "note"}, rows
}

func us(ns float64) string { return micro(duration(ns)) }

func rate(f peers.Figure) string {
	switch {
	case f.GFlops > 0:
		return significant(f.GFlops, 4) + " GFLOP/s"
	case f.GBps > 0:
		return significant(f.GBps, 4) + " GB/s"
	}
	return "-"
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Record is the table for programs.
func (p *Peers) Record() any {
	rows := []map[string]any{}
	for _, f := range p.Figures {
		rows = append(rows, map[string]any{"name": f.Name, "verdict": f.Verdict, "median_ns": f.MedianNS, "low_ns": f.LowNS,
			"high_ns": f.HighNS, "cv": f.CV, "repeats": f.Repeats, "gbps": f.GBps, "gflops": f.GFlops, "library": f.Library, "note": f.Note})
	}
	return newRecord(record.Peers, p.Title(), p.Environment, rows)
}

// Beside adds the peers to the latencies: a row each, and in the table of Short
// columns with the speed of each rung as a multiple of each peer's, with a
// verdict by the intervals of both (see Faster), and as a share of what registers
// give for multiplying; the share of what memory gives for reading stands beside the
// rate.
func (l *Latencies) Beside(p *Peers) *Latencies {
	l.peers = p
	l.Environment.NotRun = append(l.Environment.NotRun, p.Environment.NotRun...)
	return l
}

// limit begins the names of peers that are limits, not operators.
const limit = "limit_"

// besidePeers are the columns of Short for the peers, and the cells of a row.
func (l *Latencies) besidePeers(r Latency) (columns, cells []string) {
	if l.peers == nil {
		return nil, nil
	}
	for _, f := range l.peers.Figures {
		if l.peers.Find(f.Name) == nil || f.Name == limit+"copy" || l.readLimit() > 0 && f.Name == limit+"read" {
			continue
		}
		heading := "speed of " + f.Name
		if strings.HasPrefix(f.Name, limit) {
			heading = "share of " + f.Name
		}
		columns, cells = append(columns, heading), append(cells, "-")
		if !r.timed() || r.Total.Median <= 0 {
			continue
		}
		ratio := f.MedianNS / float64(r.Total.Median)
		switch verdict := r.Total.versus(sampleOf(f)); {
		case strings.HasPrefix(f.Name, limit):
			cells[len(cells)-1] = percent(ratio)
		case r.Name == f.Name:
		case verdict == Same:
			cells[len(cells)-1] = Same
		default:
			cells[len(cells)-1] = speedRatio(ratio) + " " + verdict
		}
	}
	return columns, cells
}

// all are the rows, and those of the peers beside them. A copy moves other bytes
// and is no row.
func (l *Latencies) all() []Latency {
	if l.peers == nil {
		return l.Rows
	}
	rows := slices.Clone(l.Rows)
	for _, f := range l.peers.Figures {
		if f.Name == limit+"copy" {
			continue
		}
		rows = append(rows, Latency{Name: f.Name, Verdict: f.Verdict, Library: dash(f.Library), Total: sampleOf(f)})
	}
	return rows
}

// sampleOf is the measurement of a peer.
func sampleOf(f peers.Figure) Sample {
	s := Sample{Median: duration(f.MedianNS), Low: duration(f.LowNS), High: duration(f.HighNS), CV: f.CV, Repeats: f.Repeats}
	for _, ns := range f.SamplesNS {
		s.Times = append(s.Times, duration(ns))
	}
	return s
}

// Figures are the rows as the lines of JSON that peers print too.
func (l *Latencies) Figures() []peers.Figure {
	var figures []peers.Figure
	for _, r := range l.Rows {
		f := peers.Figure{Kind: "figure", Operator: l.Operator.Name, Name: r.Name, Size: l.Size, L2: l.Method.Cache.String(),
			Method: l.Method.Clock.String(), Verdict: r.Verdict, Device: l.Device.Label(), Note: cmp.Or(r.Refused, r.Audit.Note()), Launches: r.Launches, Environment: l.Environment}
		if l.Clock() != record.Time {
			f.Method, f.L2 = l.Clock(), "-"
		}
		if r.timed() {
			s := r.Total
			f.MedianNS, f.LowNS, f.HighNS, f.CV, f.Repeats = float64(s.Median), float64(s.Low), float64(s.High), s.CV, s.Repeats
			f.FirstNS = float64(r.First.Median)
			for _, t := range s.Times {
				f.SamplesNS = append(f.SamplesNS, float64(t))
			}
			if s.Median > 0 && l.Clock() == record.Time {
				f.GBps, f.GFlops = l.work().Bytes/float64(s.Median), l.rated()/float64(s.Median)
			}
		}
		if r.State.ClockMHz > 0 {
			f.State = r.State
		}
		figures = append(figures, f)
	}
	return figures
}
