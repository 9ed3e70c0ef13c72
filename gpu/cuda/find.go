package cuda

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
	"warpbook/kernel/leaf/buildcache"
)

// WorkerVariable is the environment variable with the path of a worker to use
// instead of the one that was installed.
const WorkerVariable = "WARPBOOK_CUDA_WORKER"

// Remedy is the advice for a machine with a GPU and without a worker.
const Remedy = "GPU found, worker not built: go run ./install"

// WorkerPrefix begins the names of workers in the user's cache.
const WorkerPrefix = "cuda-worker-"

// sources are the files that a worker is built from.
//
//go:embed worker/*.go command/*.go
var sources embed.FS

// WorkerKey names a version of the worker.
func WorkerKey() string {
	h := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := sources.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		panic(err) // embedded files are always there
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12]
}

// WorkerPath is the place of the worker, there or not: beside this program, or in the
// user's cache, under a hash of its sources, so that a worker of another version is never
// used.
func WorkerPath() (string, error) {
	if path := os.Getenv(WorkerVariable); path != "" {
		return path, nil
	}
	if path := buildcache.Installed(WorkerPrefix + WorkerKey()); path != "" {
		return path, nil
	}
	dir, err := buildcache.Dir()
	if err != nil {
		return "", fmt.Errorf("cuda: worker: %w, or %s to a built worker", err, WorkerVariable)
	}
	return filepath.Join(dir, WorkerPrefix+WorkerKey()), nil
}

// WorkerBuilt reports whether the worker is there and not damaged.
func WorkerBuilt() bool {
	path, err := WorkerPath()
	return err == nil && buildcache.Verify(path) == nil
}

// Present reports whether this machine has an NVIDIA GPU with a driver.
func Present() bool { return Count() > 0 }

// Count is the number of GPUs of the machine, of those that CUDA_VISIBLE_DEVICES names if
// it is set. It asks the system and not the driver, so only Open shows that a GPU works.
func Count() int {
	gpus, _ := filepath.Glob("/dev/nvidia[0-9]*") // the pattern is well-formed
	if len(gpus) > 0 {
		if names, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
			return visible(names, len(gpus))
		}
		return len(gpus)
	}
	if _, err := os.Stat("/usr/lib/wsl/lib/libcuda.so.1"); err == nil {
		return 1
	}
	return 0
}

// visible counts the devices of CUDA_VISIBLE_DEVICES as CUDA does: up to the first that is
// no GPU of the machine, or is named twice.
func visible(names string, gpus int) (count int) {
	seen := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		number, err := strconv.Atoi(name)
		known := err == nil && number >= 0 && number < gpus || strings.HasPrefix(name, "GPU-") || strings.HasPrefix(name, "MIG-")
		if !known || seen[name] {
			break
		}
		seen[name] = true
		count++
	}
	return count
}

// findWorker is the worker to start.
func findWorker() (string, error) {
	path, err := WorkerPath()
	if err != nil {
		return "", err
	}
	if err := buildcache.Verify(path); err != nil {
		if errors.Is(err, buildcache.ErrDamaged) {
			return "", fmt.Errorf("cuda: open: worker: %w: go run ./install", err)
		}
		if !Present() {
			return "", fmt.Errorf("cuda: open: %w: no NVIDIA GPU with a driver on this machine: use the device emu", gpu.ErrNotFound)
		}
		return "", fmt.Errorf("cuda: open: %w: %s (looked for %s)", gpu.ErrNotFound, Remedy, path)
	}
	return path, nil
}

// errNoDriver is the reason of a worker that ends without a hello; its output follows.
var errNoDriver = fmt.Errorf("%w: CUDA does not start, see whether nvidia-smi lists a GPU, or use the device emu", gpu.ErrNotFound)

// checkHello checks the hello of a worker.
func checkHello(h command.Hello) error {
	switch {
	case h.Protocol != command.Protocol:
		return fmt.Errorf("%w: it speaks protocol %d, expected %d: go run ./install", gpu.ErrUnsupported, h.Protocol, command.Protocol)
	case h.Code == codeUnavailable:
		return fmt.Errorf("%w: %s: another process holds the GPU in exclusive mode: end it, or choose another device", gpu.ErrUnsupported, h.Text)
	case h.Code == codeMemory:
		return fmt.Errorf("%w: %s: other processes use the GPU's memory: see nvidia-smi", gpu.ErrMemory, h.Text)
	case h.Code != 0:
		return fmt.Errorf("%w: %s", gpu.ErrNotFound, h.Text)
	}
	return nil
}

var driverVersion = regexp.MustCompile(`\b\d{3}\.\d+(\.\d+)?\b`)

// driverName is the driver's version as nvidia-smi shows it, with that of
// CUDA.
func driverName(cuda int64) string {
	name := fmt.Sprintf("CUDA %d.%d", cuda/1000, cuda%1000/10)
	text, err := os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return name
	}
	if v := driverVersion.FindString(string(text)); v != "" {
		return v + ", " + name
	}
	return name
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
