package compile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/scratch"
)

// Listing is code as a notebook shows it.
type Listing struct {
	Language string // "ptx" or "sass"
	Text     string
}

// MIMEBundle is the text and a fenced block of Markdown.
func (l Listing) MIMEBundle() (data, metadata map[string]any) {
	return map[string]any{
		"text/plain":    l.Text,
		"text/markdown": "```" + l.Language + "\n" + l.Text + "```\n",
	}, map[string]any{}
}

func (l Listing) String() string { return l.Text }

// PTX is the module as devices load it, with line information and the other
// entries of the source.
func (m *Module) PTX() string { return m.ptx }

var (
	locLine    = lazyregexp.New(`^\s*\.loc\s+\d+\s+(\d+)\b.*$`)
	sassLine   = lazyregexp.New(`^\s*//## File "([^"]*)", line (\d+)`)
	sassCode   = lazyregexp.New(`^\s*(?:/\*[0-9a-f]+\*/.*;|\.L_\w+:)`)
	sassHex    = lazyregexp.New(`\s*/\* 0x[0-9a-f]{16} \*/\s*$`)
	sassHeader = lazyregexp.New(`(?m)^(?:\s*Function : (\S+)|//-+ \.text\.(\S+) +-+)$`)
)

// PTX is the entry's part of the PTX, with the lines of the source in it.
func (e *Entry) PTX() Listing {
	var b strings.Builder
	if strings.HasPrefix(e.module.Compiler, llvm) {
		fmt.Fprintf(&b, "// compiled by %s\n", e.module.Compiler)
	}
	inside := false
	head := regexp.MustCompile(`\.entry\s+` + e.name + `\b`)
	for line := range strings.Lines(e.module.ptx) {
		inside = inside || head.MatchString(line)
		if !inside {
			continue
		}
		if m := locLine().FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			line = e.module.sourceLine(m[1])
		}
		b.WriteString(line)
		if strings.HasPrefix(line, "}") {
			break
		}
	}
	return Listing{"ptx", b.String()}
}

// sourceLine is a line of the source as a comment.
func (m *Module) sourceLine(number string) string {
	n, _ := strconv.Atoi(number)
	lines := strings.Split(m.Source, "\n")
	if i := n - m.firstLine; i >= 0 && i < len(lines) {
		return fmt.Sprintf("// %d: %s\n", n, strings.TrimSpace(lines[i]))
	}
	return ""
}

// SASS is the entry's machine code for an architecture such as "sm_90", that
// of the PTX without one, with the lines of the source in it. It needs ptxas,
// and nvdisasm or cuobjdump, of the toolkit or of pip wheels.
func (e *Entry) SASS(arch ...string) (Listing, error) {
	dir, _, err := e.module.assemble(arch...)
	if err != nil {
		return Listing{}, err
	}
	defer os.RemoveAll(dir)
	cubin := filepath.Join(dir, "x.cubin")
	command := []string{compiler.FindTool("nvdisasm"), "-g", "-c", cubin}
	if command[0] == "" {
		command = []string{compiler.FindTool("cuobjdump"), "-sass", cubin}
	}
	if command[0] == "" {
		return Listing{}, fmt.Errorf("compile: sass of %s: nvdisasm and cuobjdump: %w: run pip install nvidia-cuda-nvdisasm, or set CUDA_HOME to a toolkit",
			e.name, gpu.ErrNotFound)
	}
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return Listing{}, fmt.Errorf("compile: sass of %s: %w: %s", e.name, err, lastLine(string(out)))
	}
	return Listing{"sass", e.sass(string(out))}, nil
}

// sass is the entry's part of a disassembly.
func (e *Entry) sass(text string) string {
	for _, at := range sassHeader().FindAllStringSubmatchIndex(text, -1) {
		m := sassHeader().FindStringSubmatch(text[at[0]:])
		if m[1] != e.name && m[2] != e.name {
			continue
		}
		part := text[at[1]:]
		if next := sassHeader().FindStringIndex(part); next != nil {
			part = part[:next[0]]
		}
		return e.lines(part)
	}
	return ""
}

// lines keeps the instructions and labels, and inserts the source.
func (e *Entry) lines(part string) string {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(part) {
		line = strings.TrimRight(sassHex().ReplaceAllString(strings.TrimRight(line, "\n"), ""), " \t")
		m := sassLine().FindStringSubmatch(line)
		switch {
		case m != nil && m[1] == e.module.Name && m[2] != last:
			last = m[2]
			b.WriteString(e.module.sourceLine(m[2]))
		case sassCode().MatchString(line):
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// assemble makes a cubin in a folder that the caller removes, and returns the
// assembler's messages.
func (m *Module) assemble(arch ...string) (dir, log string, err error) {
	target := DefaultArch
	if found := regexp.MustCompile(`(?m)^\s*\.target\s+(sm_\w+)`).FindStringSubmatch(m.ptx); found != nil {
		target = found[1]
	}
	if len(arch) > 0 {
		target = arch[0]
	}
	if err := checkArch(target); err != nil {
		return "", "", err
	}
	ptxas := compiler.FindTool("ptxas")
	if ptxas == "" {
		return "", "", fmt.Errorf("compile: assemble %s: ptxas: %w: run pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm, or set CUDA_HOME to a toolkit", m.Name, gpu.ErrNotFound)
	}
	if dir, err = os.MkdirTemp(scratch.Dir(), "warpbook-"); err != nil {
		return "", "", fmt.Errorf("compile: assemble %s: %w", m.Name, err)
	}
	file := filepath.Join(dir, "x.ptx")
	if err = os.WriteFile(file, []byte(m.ptx), 0o600); err == nil {
		var out []byte
		out, err = exec.Command(ptxas, "-v", "-lineinfo", "-arch="+target, "-o", filepath.Join(dir, "x.cubin"), file).CombinedOutput()
		log = string(out)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", "", fmt.Errorf("compile: assemble %s for %s: %w: %s", m.Name, target, err, lastLine(log))
	}
	return dir, log, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
