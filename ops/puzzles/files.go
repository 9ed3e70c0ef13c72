package puzzles

import (
	"embed"
	"fmt"
	"regexp"
	"strconv"

	"warpbook/gpu"
	"warpbook/gpu/ptxfile"
)

//go:embed *.cu *.ptx.zst triton/*.py triton/*.ptx
var files embed.FS

// read is a committed file of this folder.
func read(name string) string {
	text, err := ptxfile.Read(files, name)
	if err != nil {
		panic(fmt.Sprintf("puzzles: %v", err)) // a file that the build embeds
	}
	return text
}

// launchLine is what make.py writes of a kernel's launch.
var launchLine = regexp.MustCompile(`(?m)^// launch: (\d+) threads, (\d+) bytes of dynamic shared memory$`)

// tritonProgram is the PTX that Triton made of its solution. Triton adds two parameters,
// of scratch memory, which these kernels do not use. Races in shared memory are not searched for: where a
// layout gives several threads the same element, each of them stores it.
func (p *Puzzle) tritonProgram() (program, error) {
	file := "triton/" + p.Name + ".ptx"
	text := read(file)
	m := launchLine.FindStringSubmatch(text)
	if m == nil {
		return program{}, fmt.Errorf("puzzles: %s: no line of the launch: run triton/make.py", file)
	}
	threads, _ := strconv.Atoi(m[1])
	shared, _ := strconv.Atoi(m[2])
	return program{text, p.Name + ".ptx", p.Kernel(), gpu.Dim{X: threads}, shared, 2, checks &^ gpu.CheckRaces}, nil
}
