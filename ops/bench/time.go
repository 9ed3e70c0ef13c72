package bench

import (
	"context"
	"fmt"
	"time"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// Time verifies and times the named rungs, all for none, by the bench's
// Method. A rung whose result is wrong gets a row without numbers, and so
// does one during which the GPU was slowed down. Under a profiler, or beside a
// process that keeps the GPU busy, the error wraps ErrDisturbed.
func (b *Bench) Time(variants ...string) (*results.Latencies, error) {
	if err := b.Method.Check(); err != nil {
		return nil, err
	}
	watch, err := b.watcher.begin(func() (*watch, error) {
		return startWatch(context.Background(), b.operator.Name, b.site.Device.Info())
	})
	if err != nil {
		return nil, err
	}
	defer b.watcher.end(watch)
	l := &results.Latencies{Method: b.Method, Subject: b.subject(b.Method.Describe(b.site.Device.Info()) +
		"; each result verified before and after; median, and an interval that holds it with 95 % confidence (fewer than 6 repeats: smallest to largest)")}
	l.Environment.Beside = watch.notes
	err = b.each("time", variants, &l.Environment, func(r *trial) error {
		start := time.Now()
		row, err := r.time()
		if err == nil && row.Verdict == ladder.Pass && r.Variant.Host == nil {
			row.State, row.Refused = watch.since(start)
		}
		l.Rows = append(l.Rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// time verifies the rung, times it, and verifies what the last of the timed
// runs left.
func (r *trial) time() (results.Latency, error) {
	row := results.Latency{Name: r.Variant.Name, Launches: len(r.Launches),
		Published: r.Variant.PublishedNear(r.bench.site.Size)}
	var took time.Duration
	var err error
	if row.Verdict, took, err = r.rightBefore(); err != nil || row.Verdict != ladder.Pass {
		return row, err
	}
	repeats := r.repeats(took)
	if r.Variant.Host != nil {
		row.Total = r.timeHost(repeats)
		row.First = row.Total
		return row, nil
	}
	audits, counted := r.bench.Audits && r.Variant.Own != nil && len(r.Launches) > 0, []gpu.Counters(nil)
	if audits {
		if counted, err = r.beforeAudit(); err != nil {
			return row, err
		}
	}
	if row.Total, err = r.timeLaunches(r.Launches, took, repeats); err != nil {
		return row, err
	}
	row.First = row.Total
	outputs, err := r.download()
	if err != nil {
		return row, fmt.Errorf("ops: %s: %w", r.Variant.Name, err)
	}
	if len(r.compare(outputs).Failed) > 0 {
		delete(r.bench.verified, r.Variant.Name)
		return results.Latency{Name: row.Name, Launches: row.Launches, Published: row.Published, Verdict: ladder.Fail}, nil
	}
	if audits {
		if row.Audit, err = r.audit(counted); err != nil || row.Audit.Rejected != "" {
			row.Verdict = results.Rejected
			return row, err
		}
	}
	if len(r.Launches) > 1 {
		row.First, err = r.timeLaunches(r.Launches[:1], took, repeats)
	}
	return row, err
}

// rightBefore is the verdict on the rung before it is timed, and how long a run
// takes. A rung whose result for these inputs was right before only runs: time
// compares the result after the timing.
func (r *trial) rightBefore() (verdict string, took time.Duration, err error) {
	if r.bench.verified[r.Variant.Name] {
		took, err = r.again()
		return ladder.Pass, took, err
	}
	check, took, err := r.check()
	return check.Verdict, took, err
}

func (r *trial) timeHost(repeats int) results.Sample {
	outputs := r.newOutputs()
	times := make([]time.Duration, repeats)
	for i := range times {
		times[i] = r.onHost(outputs)
	}
	return results.Summarize(times)
}

// repeats is how often a run that took so long is timed: up to 50 times, three
// times when it is slow, once when a single run takes a second, or on the emulator
// a fifth of one.
func (r *trial) repeats(took time.Duration) int {
	if r.bench.Repeats > 0 {
		return r.bench.Repeats
	}
	slow := time.Second
	if r.bench.site.Device.Info().Emulated {
		slow /= 5
	}
	if took > slow {
		return 1
	}
	return int(min(50, max(3, slow/max(took, time.Microsecond))))
}
