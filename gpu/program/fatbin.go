package program

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"warpbook/kernel/leaf/lazyregexp"
)

// A fat binary holds code for GPUs as NVIDIA's runtime registers it: a header and entries, each
// with a header of its own. Ours has one entry, uncompressed PTX, which the driver compiles for
// its GPU. All numbers are little-endian.
const (
	fatMagic    = 0xba55ed50
	fatVersion  = 1
	entryPTX    = 1      // the kind of an entry
	entryForm   = 0x0101 // the version of its header
	entryHeader = 80     // its bytes
	entryFlags  = 0x11   // 64 bits, Linux
)

type fatHeader struct {
	Magic   uint32
	Version uint16
	Header  uint16 // bytes of this header
	Size    uint64 // bytes after it
}

type fatEntry struct {
	Kind, Form   uint16
	Header       uint32 // bytes of this header
	Size         uint64 // bytes after it
	Compressed   uint32 // bytes of compressed text, 0 where it is not compressed
	Options      uint32 // offset of the place of the assembler's options in the entry
	Minor, Major uint16 // version of PTX
	Arch         uint32 // 75 is sm_75
	Name, Length uint32 // of the source: none
	Flags        uint64
	_            uint64
	Uncompressed uint64
	OptionsAt    uint64 // offset of the options: an empty text
	OptionsText  uint64
}

var (
	ptxVersion = lazyregexp.New(`(?m)^\s*\.version\s+(\d+)\.(\d+)`)
	ptxTarget  = lazyregexp.New(`(?m)^\s*\.target\s+sm_(\d+)`)
)

// fatBinary wraps PTX in a fat binary.
func fatBinary(ptx string) ([]byte, error) {
	e := fatEntry{Kind: entryPTX, Form: entryForm, Header: entryHeader, Options: 64, Flags: entryFlags, OptionsAt: 72}
	version, target := ptxVersion().FindStringSubmatch(ptx), ptxTarget().FindStringSubmatch(ptx)
	if version == nil || target == nil {
		return nil, fmt.Errorf("program: PTX without a .version and a .target, expected both at its beginning")
	}
	fmt.Sscan(version[1]+" "+version[2]+" "+target[1], &e.Major, &e.Minor, &e.Arch) // digits
	text := append([]byte(ptx), make([]byte, 8-len(ptx)%8)...)                      // ends with a zero
	e.Size = uint64(len(text))
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, fatHeader{fatMagic, fatVersion, 16, entryHeader + e.Size}) // to a buffer
	binary.Write(&b, binary.LittleEndian, e)
	b.Write(text)
	return b.Bytes(), nil
}
