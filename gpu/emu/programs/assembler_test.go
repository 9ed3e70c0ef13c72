package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAssembler assembles programs with ptxas, if ptxas is present: a quarter of them, which
// the seed chooses, with WARPBOOK_LONG all.
func TestAssembler(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: ptxas starts once for each program")
	}
	ptxas := assembler()
	if ptxas == "" {
		t.Skip("needs ptxas: set CUDA_HOME to a toolkit, or WARPBOOK_NVRTC to pip wheels with nvidia-cuda-nvcc")
	}
	dir := t.TempDir()
	all, random := All(), seeded(t)
	if os.Getenv("WARPBOOK_LONG") == "" {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:len(all)/4]
	}
	for _, p := range all {
		name := filepath.Join(dir, strings.ReplaceAll(p.Name, " ", "_")+".ptx")
		if err := os.WriteFile(name, []byte(p.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		cubin := filepath.Join(dir, "out.cubin")
		arch := "sm_90"
		if strings.Contains(p.Text, ".target sm_90a") {
			arch = "sm_90a"
		}
		says, err := exec.Command(ptxas, "-arch="+arch, "-o", cubin, name).CombinedOutput()
		switch {
		case strings.Contains(string(says), "Unsupported .version"):
			t.Logf("%s: this ptxas is too old for its .version", p.Name)
		case err != nil:
			t.Errorf("%s: %v: %s", p.Name, err, says)
		}
	}
}

// assembler is the ptxas of a toolkit, of the PATH, or of pip wheels, whose one of 12.0
// ends with a segmentation fault at some programs; "" if there is none.
func assembler() string {
	onPath, _ := exec.LookPath("ptxas")
	for _, pattern := range []string{
		filepath.Join(os.Getenv("CUDA_HOME"), "bin/ptxas"), "/usr/local/cuda/bin/ptxas", onPath, filepath.Join(os.Getenv("WARPBOOK_NVRTC"), "nvidia/*/bin/ptxas"),
	} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
