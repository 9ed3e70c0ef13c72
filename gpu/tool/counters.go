package tool

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"warpbook/gpu"
)

// Counters is what ncu measured in one launch.
type Counters struct {
	Device, Entry string
	Values        map[string]string // by ncu's name of the metric, as ncu prints them
	Units         map[string]string
}

// Text is the value of a metric with its unit.
func (c *Counters) Text(metric string) string {
	value, found := c.Values[metric]
	if !found {
		return "not measured on this GPU"
	}
	return strings.TrimSpace(value + " " + c.Units[metric])
}

// Number is the value of a metric: of all its instances together.
func (c *Counters) Number(metric string) (float64, error) {
	text, found := c.Values[metric]
	if !found {
		return 0, fmt.Errorf("tool: ncu: metric %q: %w for %s on %s", metric, gpu.ErrNotFound, c.Entry, c.Device)
	}
	whole, _, _ := strings.Cut(text, " ")
	f, err := strconv.ParseFloat(strings.ReplaceAll(whole, ",", ""), 64)
	if err != nil {
		return 0, fmt.Errorf("tool: ncu: metric %q of %s is %q, expected a number", metric, c.Entry, text)
	}
	return f, nil
}

// watchedGPU is a GPU that runs under a tool and knows it.
type watchedGPU interface {
	movable
	observable
}

// exported is how the names of the files end that ncu exports.
const exported = ".ncu-rep"

// UnderProfiler runs work, whose launches ncu counts, with the device's worker under
// ncu. At its end the report, a file, holds the metrics of each launch. It starts another
// worker before work and after it; work may leave no more than 1 GiB in buffers. Each
// launch is repeated until all metrics are counted, at the clock that the GPU has, and
// ncu empties the caches before each. Where export is not "", ncu also keeps all its sections
// in the file EXPORT.ncu-rep, which is new.
func UnderProfiler(d gpu.Device, report string, metrics []string, export string, work func() error) error {
	worker, ok := d.(watchedGPU)
	if !ok { // the emulator
		return fmt.Errorf("tool: ncu: %w on %s: expected a GPU", gpu.ErrUnsupported, d.Info().Name)
	}
	if err := checkNames(metrics); err != nil {
		return err
	}
	path, err := find("ncu", "nsight-compute")
	if err != nil {
		return err
	}
	command := []string{path, "--csv", "--page", "raw", "--print-units", "base", "--print-metric-instances", "details",
		"--clock-control", "none", "--log-file", report, "--metrics", strings.Join(metrics, ",")}
	if export != "" {
		if _, err := os.Stat(export + exported); err == nil {
			return fmt.Errorf("tool: ncu: %s is there already, expected a new file", export+exported)
		}
		command = append(command, "--set", "full", "--export", export)
	}
	worker.Observe(func(l gpu.Launch, run func(gpu.Launch) error) error { return run(l) }) // it waits for the tool's start
	defer worker.Observe(nil)
	back, err := worker.Under(command...)
	if err != nil {
		return explain(&profiler{}, report, err)
	}
	return errors.Join(work(), back())
}

// ReadReport reads the launches of a report in their order.
func ReadReport(file string) ([]Counters, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tool: ncu: %w", err)
	}
	launches, units, err := readProfile(string(text))
	if err != nil {
		return nil, err
	}
	var all []Counters
	for _, l := range launches {
		all = append(all, Counters{l.values["device__attribute_display_name"], l.entry, l.values, units})
	}
	return all, nil
}
