package gpumagic

import (
	"strings"

	"warpbook/ops"
)

// Texts completes strings with the names of variants. A receiver that is an operator or
// a bench limits them to its own. ops.Find takes names of operators, UseData those of
// data sets. Without a typed letter, only functions and types of package ops and methods
// of such a receiver have completions.
func Texts(call, typed string, receiver any) (texts []string) {
	operators := ops.Operators()
	switch r := receiver.(type) {
	case *ops.Operator:
		operators = []*ops.Operator{r}
	case *ops.Bench:
		operators = []*ops.Operator{r.Operator()}
	default:
		if typed == "" && !strings.HasPrefix(call, "ops.") {
			return nil
		}
	}
	for _, o := range operators {
		texts = append(texts, textsOf(o, call[strings.LastIndexByte(call, '.')+1:])...)
	}
	return texts
}

// textsOf are the names that a function of an operator, or for one, takes.
func textsOf(o *ops.Operator, function string) (texts []string) {
	switch function {
	case "Find":
		return []string{o.Name}
	case "UseData", "DataSet":
		for _, d := range o.Data {
			texts = append(texts, d.Name)
		}
		return texts
	}
	for _, v := range o.Variants {
		texts = append(texts, v.Name)
	}
	return texts
}
