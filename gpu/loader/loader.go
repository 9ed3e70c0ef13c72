// Package loader checks PTX before a device loads it, so that the GPU and the
// emulator report the same mistake in the same words. gpu/emu and gpu/cuda call
// Parse.
//
// It parses the text, compares it with the device's limits, and names unknown
// instruction words. It does not know what instructions do, and imports no device.
package loader

import (
	"fmt"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// Parse checks PTX and rejects text that the driver of the device would not load.
// remedy is the advice for a version of the language that is too new.
func Parse(info gpu.Info, name, text string, remedy func(gpu.Version) string) (*ptx.Module, error) {
	m, err := parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("gpu: load: %w: %w", gpu.ErrMalformed, err)
	}
	if err := check(info, m, remedy); err != nil {
		return nil, fmt.Errorf("gpu: load %s: %w", name, err)
	}
	return m, nil
}

func check(info gpu.Info, m *ptx.Module, remedy func(gpu.Version) string) error {
	have := gpu.Version{Major: m.Version[0], Minor: m.Version[1]}
	if newer(have, info.PTX) {
		return fmt.Errorf("%w: .version %v, expected at most %v on %s: %s", gpu.ErrUnsupported, have, info.PTX, info.Name, remedy(have))
	}
	if err := checkTarget(info, m.Target); err != nil {
		return err
	}
	if m.AddressBytes != 8 {
		return fmt.Errorf("%w: .address_size %d, expected 64", gpu.ErrUnsupported, 8*m.AddressBytes)
	}
	return nil
}

func newer(a, b gpu.Version) bool {
	return a.Major > b.Major || a.Major == b.Major && a.Minor > b.Minor
}

// checkTarget compares an architecture with that of the device: sm_90 is for
// every later one, sm_90a for this alone, sm_100f for those of the family.
func checkTarget(info gpu.Info, target string) error {
	digits := strings.TrimPrefix(target, "sm_")
	exact, family := strings.HasSuffix(digits, "a"), strings.HasSuffix(digits, "f")
	n, err := strconv.Atoi(strings.TrimRight(digits, "af"))
	if err != nil {
		return fmt.Errorf("%w: .target %s, expected sm_ and a number", gpu.ErrMalformed, target)
	}
	cc := info.Compute.Major*10 + info.Compute.Minor
	if n > cc || exact && n != cc || family && n/10 != cc/10 {
		return fmt.Errorf("%w: .target %s needs another GPU than %s: compile for %v or an earlier one", gpu.ErrUnsupported, target, info.Name, info.Compute)
	}
	return nil
}

// Unknown is the first word of an instruction that PTX does not have, with its
// dot if it is a modifier, and what to say of it; "" if there is none.
func Unknown(m *ptx.Module, in *ptx.Instruction) (word, text string) {
	word, legal := m.Unknown(in)
	switch word {
	case "":
		return "", ""
	case in.Opcode:
		return word, fmt.Sprintf("no opcode %s, %s", word, gpu.Nearest(word, legal))
	}
	return word, fmt.Sprintf("%s has no modifier %s, %s", in.Opcode, word, gpu.Nearest(word, legal))
}
