package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"warpbook/kernel/leaf/atomicfile"
)

const (
	jobFile = "slurm.job" // the array job that was submitted last
	follow  = 2 * time.Second
)

// Slurm holds the options of an array job. The cluster chooses empty ones.
type Slurm struct {
	Partition  string
	GPUs       string // such as 1 or h100:1, for each point
	Time       string // limit of a point, as sbatch has it
	Concurrent int    // points at once; 0: any number
}

// Submit runs the missing points as one array job and follows it to its end. A job of
// this sweep that still runs is followed, not submitted again, so that a follower that
// was interrupted or lost continues. A point whose node is lost is run again by Slurm.
func (s Slurm) Submit(ctx context.Context, p *Plan, program, notebook string, progress io.Writer) error {
	job, err := s.running(ctx, p)
	if err != nil {
		return err
	}
	if job == "" {
		missing := p.Missing()
		fmt.Fprintf(progress, "%d of %d points are missing\n", len(missing), len(p.Points()))
		if len(missing) == 0 {
			return nil
		}
		if job, err = s.submit(ctx, p, program, notebook, missing); err != nil {
			return err
		}
		fmt.Fprintf(progress, "submitted job %s\n", job)
	} else {
		fmt.Fprintf(progress, "job %s still runs\n", job)
	}
	if err := s.followJob(ctx, p, job, progress); err != nil {
		return err
	}
	if n := len(p.Missing()); n > 0 {
		return fmt.Errorf("sweep: job %s ended and %d points did not pass: see the logs in %s; the same command runs them again", job, n, p.folder)
	}
	return nil
}

// running is the job that was submitted last if it has not ended, else "".
func (s Slurm) running(ctx context.Context, p *Plan) (string, error) {
	data, err := os.ReadFile(filepath.Join(p.folder, jobFile))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	job := strings.TrimSpace(string(data))
	states, err := states(ctx, job)
	if err != nil || len(states) == 0 {
		return "", err
	}
	return job, nil
}

// submit submits the points and notes the job.
func (s Slurm) submit(ctx context.Context, p *Plan, program, notebook string, points []Point) (string, error) {
	folder, err := filepath.Abs(p.folder)
	if err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	if notebook, err = filepath.Abs(notebook); err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	words := []string{program, "sweep", notebook, "--out", folder}
	for _, a := range p.Axes {
		words = append(words, "--set", a.Name+"="+strings.Join(a.Values, ","))
	}
	script := "#!/bin/sh\nexec"
	for _, w := range words {
		script += " '" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	script += ` --point "$SLURM_ARRAY_TASK_ID"` + "\n"
	args := []string{"--parsable", "--requeue", "--job-name=warpbook-sweep", "--array=" + s.array(points), "--output=" + filepath.Join(folder, "slurm-%A_%a.log")}
	for _, option := range []struct{ flag, value string }{{"--partition=", s.Partition}, {"--time=", s.Time}, {"--gres=gpu:", s.GPUs}} {
		if option.value != "" {
			args = append(args, option.flag+option.value)
		}
	}
	out, err := command(ctx, script, "sbatch", args...)
	if err != nil {
		return "", err
	}
	job, _, _ := strings.Cut(strings.TrimSpace(out), ";") // a cluster's name may follow
	err = atomicfile.Write(filepath.Join(p.folder, jobFile), func(w io.Writer) error { _, err := fmt.Fprintln(w, job); return err })
	if err != nil {
		return "", fmt.Errorf("sweep: job %s is submitted, but cannot be noted: %w", job, err)
	}
	return job, nil
}

// array is the list of points as sbatch wants it.
func (s Slurm) array(points []Point) string {
	var list []string
	for i := 0; i < len(points); {
		first, last := points[i].Index, points[i].Index
		for i++; i < len(points) && points[i].Index == last+1; i++ {
			last++
		}
		if first == last {
			list = append(list, strconv.Itoa(first))
		} else {
			list = append(list, fmt.Sprintf("%d-%d", first, last))
		}
	}
	text := strings.Join(list, ",")
	if s.Concurrent > 0 {
		text += "%" + strconv.Itoa(s.Concurrent)
	}
	return text
}

// followJob shows how far a job is until it has ended.
func (s Slurm) followJob(ctx context.Context, p *Plan, job string, progress io.Writer) error {
	shown := ""
	for {
		states, err := states(ctx, job)
		if ctx.Err() != nil {
			return fmt.Errorf("sweep: job %s continues on the cluster: the same command follows it, scancel %[1]s ends it", job)
		}
		if err != nil {
			return err
		}
		line := fmt.Sprintf("job %s: %d points passed", job, len(p.Points())-len(p.Missing()))
		for _, state := range []string{"PENDING", "RUNNING", "COMPLETING"} {
			line += fmt.Sprintf(", %d %s", states[state], strings.ToLower(state))
		}
		if line != shown {
			shown = line
			fmt.Fprintln(progress, line)
		}
		if len(states) == 0 {
			return nil
		}
		select {
		case <-time.After(follow):
		case <-ctx.Done():
		}
	}
}

// states counts the tasks of a job that have not ended, by state.
func states(ctx context.Context, job string) (map[string]int, error) {
	out, err := command(ctx, "", "squeue", "--noheader", "--array", "--jobs="+job, "--format=%T")
	if err != nil && strings.Contains(err.Error(), "Invalid job id") { // long ended
		return nil, nil
	}
	count := map[string]int{}
	for _, state := range strings.Fields(out) {
		count[state]++
	}
	return count, err
}

// command runs a command of Slurm.
func command(ctx context.Context, stdin, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("sweep: %w, expected Slurm's commands on this machine", err)
	}
	if err != nil {
		return "", fmt.Errorf("sweep: %s: %w: %s", name, err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	return string(out), nil
}
