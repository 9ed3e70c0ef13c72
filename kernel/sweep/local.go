package sweep

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// interruptGrace is how long an interrupted point has before it is killed.
const interruptGrace = 10 * time.Second

// logFile has the output of a point, in its folder.
const logFile = "log"

// Local runs the missing points on this machine, one at a time for each device; the
// device "" is the default of warpbook run. A point that fails does not stop the
// others. The output of a point is in the file log of its folder.
func (p *Plan) Local(ctx context.Context, program, notebook string, devices []string, progress io.Writer) error {
	missing := p.Missing()
	fmt.Fprintf(progress, "%d of %d points are missing\n", len(missing), len(p.Points()))
	return p.run(ctx, program, notebook, devices, missing, progress)
}

// One runs a single point, unless it has passed: the per-point command.
func (p *Plan) One(ctx context.Context, program, notebook string, index int, progress io.Writer) error {
	for _, point := range p.Missing() {
		if point.Index == index {
			return p.run(ctx, program, notebook, []string{""}, []Point{point}, progress)
		}
	}
	if n := len(p.Points()); index < 0 || index >= n {
		return fmt.Errorf("sweep: point %d, expected 0 to %d", index, n-1)
	}
	return nil
}

func (p *Plan) run(ctx context.Context, program, notebook string, devices []string, missing []Point, progress io.Writer) error {
	total := len(p.Points())
	queue := make(chan Point)
	var workers sync.WaitGroup
	var mu sync.Mutex // guards progress and failed
	failed := 0
	for _, device := range devices {
		workers.Go(func() {
			for point := range queue {
				begun := time.Now()
				err := p.runPoint(ctx, program, notebook, device, point)
				mu.Lock()
				word := "passed"
				if err != nil {
					failed++
					word = "failed: " + err.Error()
				}
				fmt.Fprintf(progress, "point %d of %d, %s: %s, %.1f s\n", point.Index+1, total, point.Name, word, time.Since(begun).Seconds())
				mu.Unlock()
			}
		})
	}
	for _, point := range missing {
		select {
		case queue <- point:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(queue)
	workers.Wait()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("sweep: interrupted, %d points are missing: the same command continues", len(p.Missing()))
	case failed > 0:
		return fmt.Errorf("sweep: %d of %d points failed: the same command runs them again", failed, total)
	}
	return nil
}

// runPoint runs one point in a process of its own.
func (p *Plan) runPoint(ctx context.Context, program, notebook, device string, point Point) error {
	folder := p.Folder(point)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(folder, logFile))
	if err != nil {
		return err
	}
	defer log.Close()
	args := p.Arguments(notebook, point)
	if device != "" {
		args = append(args, "--device", device)
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Stdout, c.Stderr = log, log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	c.WaitDelay = interruptGrace
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C reaches it once, through Cancel
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w, see %s: %s", err, log.Name(), p.why(point))
	}
	return nil
}

// why is why a point has not passed: the last line of its log.
func (p *Plan) why(point Point) string {
	data, err := os.ReadFile(filepath.Join(p.Folder(point), logFile))
	if err != nil {
		return "it has not run"
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if last := strings.TrimPrefix(lines[len(lines)-1], "warpbook: "); last != "" {
		return last
	}
	return "it ended without a word, or still runs"
}
