package emu

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// TestPadding: copying the padding of a struct is no use of it, as each compiler copies it, with
// optimisation and for a debugger. A member that is never written is found where it is used.
func TestPadding(t *testing.T) {
	source, err := os.ReadFile("testdata/padding.cu")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, option string
		with         compile
	}{
		{"NVRTC", "--generate-line-info", compiler.Run}, {"NVRTC for a debugger", "--device-debug", compiler.Run},
		{"clang", "--generate-line-info", clang.Run}, {"clang for a debugger", "--device-debug", clang.Run},
		{"in a browser", "--generate-line-info", clang.RunOwn},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply, err := c.with(t.Context(), compiler.Request{Name: "padding.cu", Text: string(source), Options: []string{"--gpu-architecture=compute_75", "--std=c++17", c.option}})
			if err != nil || reply.Missing || reply.Error != "" {
				t.Skipf("needs NVRTC and %s: %v %s", clang.FolderVariable, err, reply.Error)
			}
			for _, m := range regexp.MustCompile(`KERNEL (\w+)\(`).FindAllStringSubmatch(string(source), -1) {
				checkPadding(t, reply.PTX, m[1], string(source))
			}
		})
	}
}

func checkPadding(t *testing.T, text, name, source string) {
	t.Helper()
	d, e := loadEntry(t, text, name)
	y, err := d.Alloc(gpu.Uint32, 64)
	if err != nil {
		t.Fatal(err)
	}
	g, err := d.Alloc(gpu.Uint8, 1<<13)
	if err != nil {
		t.Fatal(err)
	}
	err = d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{y, g}})
	var f *gpu.Fault
	switch {
	case strings.HasPrefix(name, "ok_"):
		if err != nil {
			t.Error(err)
		}
	case !errors.As(err, &f) || f.Kind != gpu.ErrUninitialized:
		t.Errorf("%s: %v, expected an uninitialized read", name, err)
	case !strings.Contains(defect{corpus: "padding"}.markOf(source, f.Source), "defect"):
		t.Errorf("%v, expected a line that is marked", err)
	}
}
