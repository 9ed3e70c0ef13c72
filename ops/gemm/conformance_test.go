package gemm

import (
	"testing"

	"warpbook/ops/optest"
)

func TestConformance(t *testing.T)         { optest.Run(t, Operator) }
func TestConformanceTF32(t *testing.T)     { optest.Run(t, TF32) }
func TestConformanceBF16(t *testing.T)     { optest.Run(t, BF16) }
func TestConformanceFP16(t *testing.T)     { optest.Run(t, FP16) }
func TestConformanceBatched(t *testing.T)  { optest.Run(t, Batched) }
func TestConformanceBiasReLU(t *testing.T) { optest.Run(t, BiasReLU) }
