package sample

import (
	"testing"

	"warpbook/ops/optest"
)

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

func TestConformanceMistakes(t *testing.T) { optest.Run(t, Mistakes) }

func TestConformanceBFloat16(t *testing.T) { optest.Run(t, BFloat16) }
