package results

import (
	"fmt"
	"math"

	"warpbook/ops/ladder"
)

// speedRatio is one speed divided by another, as a reader takes it in: "1.53x", and
// below a tenth "1/21 000". A ratio that is not 1 is never written as 1.
func speedRatio(r float64) string {
	switch {
	case r-r != 0 || r <= 0:
		return "-"
	case r < 0.1:
		return "1/" + ladder.Grouped(math.Round(1/r))
	case r >= 100:
		return ladder.Grouped(math.Round(r)) + "x"
	}
	for digits := 2; ; digits++ {
		text := fmt.Sprintf("%.*f", digits, r)
		if r == 1 || digits == 6 || math.Round(r*math.Pow10(digits)) != math.Pow10(digits) {
			return text + "x"
		}
	}
}

// countRatio is a counter divided by the one of the rung before: "same" where both are
// equal, and "-" where nothing was counted before.
func countRatio(now, before float64) string {
	switch {
	case now == before:
		return "same"
	case before == 0:
		return "-"
	case now == 0:
		return "none"
	}
	return speedRatio(now / before)
}

// percent is a share with two digits or a decimal: "0.0042 %", "8.7 %", "97.6 %".
func percent(share float64) string {
	if share < 0.01 {
		return significant(100*share, 2) + " %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}
