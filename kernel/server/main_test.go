package server

import (
	"testing"

	"warpbook/kernel/leak"
)

func TestMain(m *testing.M) { leak.Main(m, "warpbook/kernel/") }
