package reduce

import (
	"testing"

	"warpbook/ops/optest"
)

func TestConformance(t *testing.T)         { optest.Run(t, Operator) }
func TestConformanceMistakes(t *testing.T) { optest.Run(t, Mistakes) }
