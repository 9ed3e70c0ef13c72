package loop

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	ptxLabel  = regexp.MustCompile(`^(\$\w+):`)
	ptxBranch = regexp.MustCompile(`\bbra(?:\.uni)?\s+(\$\w+)`)
	sassLine  = regexp.MustCompile(`^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\*`)
	sassTo    = regexp.MustCompile(`\bBRA(?:\.\w+)* (?:!?U?P\w+, )?0x([0-9a-f]+)`)
)

// PTX reads the body of an entry.
func PTX(body string) []Instruction {
	var code []Instruction
	labels, targets := map[string]int{}, map[int]string{}
	for line := range strings.Lines(body) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		if m := ptxLabel.FindStringSubmatch(line); m != nil {
			labels[m[1]] = len(code)
			continue
		}
		if !strings.HasSuffix(line, ";") || strings.HasPrefix(line, ".") {
			continue
		}
		text := strings.Join(strings.Fields(strings.TrimSuffix(line, ";")), " ")
		if m := ptxBranch.FindStringSubmatch(text); m != nil {
			targets[len(code)] = m[1]
		}
		code = append(code, Instruction{Text: text, To: -1, Always: text == "ret" || strings.HasPrefix(text, "bra")})
	}
	for i, label := range targets {
		if to, ok := labels[label]; ok {
			code[i].To = to
		}
	}
	return code
}

// SASS reads the lines of an entry as cuobjdump prints them.
func SASS(lines []string) []Instruction {
	var code []Instruction
	at, targets := map[uint64]int{}, map[int]uint64{}
	for _, line := range lines {
		m := sassLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		address, _ := strconv.ParseUint(m[1], 16, 64)
		at[address] = len(code)
		if to := sassTo.FindStringSubmatch(m[2]); to != nil {
			targets[len(code)], _ = strconv.ParseUint(to[1], 16, 64)
		}
		always := strings.HasPrefix(m[2], "EXIT") || strings.HasPrefix(m[2], "BRA") && !strings.Contains(m[2], "P")
		code = append(code, Instruction{Text: m[2], To: -1, Always: always})
	}
	for i, address := range targets {
		if to, ok := at[address]; ok {
			code[i].To = to
		}
	}
	return code
}
