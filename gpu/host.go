package gpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// HostFree is how much memory the host can still give, where it says so: Go
// cannot recover from running out of it.
func HostFree() (bytes int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}

// CheckHost refuses more bytes than the host can still give, where it says so.
func CheckHost(bytes float64) error {
	const gib = 1 << 30
	if free, known := HostFree(); known && bytes > float64(free) {
		return fmt.Errorf("%w: %.4g GiB of the host's memory, which has %.4g left", ErrMemory, bytes/gib, float64(free)/gib)
	}
	return nil
}
