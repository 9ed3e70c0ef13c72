package hint

import (
	"regexp"

	"warpbook/kernel/leaf/lazyregexp"
)

// habit is a line of another language or notebook, and the Go code for it. Only wrong
// lines are searched for habits.
type habit struct {
	pattern func() *regexp.Regexp // of the line
	answer  string
}

const (
	cudaCell  = "CUDA C++ has a cell of its own, with %%cuda as the first line"
	shellCell = "shell commands have a cell of their own, with %%bash as the first line"
	pkgLine   = "Go modules are added with %pkg path"
	inspected = "Shift-Tab behind a name shows what it is"
	braces    = "Go has { } around a block, and no colon before it"
	declare   = "Go declares with x := 5, or var x int = 5"
	plusPlus  = "x++ is a statement of its own, and no value"
	calls     = "a call has parentheses: println(x)"
	behind    = "a type stands behind the name, without a colon: func f(a int, b string) int { }"
)

// Values is the hint for a last line with several expressions.
const Values = "a cell shows one expression, the last: write fmt.Println(a, b), or a line each and %who"

// habits are tried in this order; the first match answers the line.
var habits = []habit{
	{lazyregexp.New(`^\s*#\s*(?:include|define|pragma|ifdef|ifndef|if|endif)\b|\b__(?:global|device|shared|constant)__\b|\b(?:threadIdx|blockIdx|blockDim|gridDim)\.`), cudaCell},
	{lazyregexp.New(`^\s*#`), "a comment begins with //"},
	{lazyregexp.New(`^\s*[!%]?\s*(?:pip3?|conda|npm)\s+install\b|^\s*[!%]?\s*go\s+(?:get|install)\b`), pkgLine},
	{lazyregexp.New(`^\s*!{1,2}[a-z][\w./-]*(?:\s|$)|^\s*(?:ls|cd|pwd|cat|mkdir|git|nvidia-smi|nvcc)(?:\s+[\w./-]+)*\s*$`), shellCell},
	{lazyregexp.New(`^\s*\?{1,2}\s*[\w.]+\s*$|^\s*[\w.]+\s*\?{1,2}\s*$`), inspected},
	{lazyregexp.New(`^\s*if\s+[\w.]+\s*=[^=;]*\{`), "Go compares with =="},
	{lazyregexp.New(`\?[^:]*:`), "Go has no ?: - write if and else"},
	{lazyregexp.New(`^\s*for\s+(\w+)(?:\s*,\s*\w+)?\s+in\b`), "Go writes for i := range 10 { }, and for i, v := range list { }"},
	{lazyregexp.New(`^\s*for\s+\w+(?:\s*,\s*\w+)?\s*:?=\s*[\w.\[\]()]+\s*\{`), "Go writes for i, x := range xs { }"},
	{lazyregexp.New(`^\s*(?:if|for)\b[^{]*\s(?:not\s+)?in\s+\w`), "Go writes slices.Contains(xs, x) for a slice, and if _, ok := m[key]; ok { } for a map"},
	{lazyregexp.New(`^\s*for\s*\(`), "Go writes for i := 0; i < n; i++ { }, without parentheses"},
	{lazyregexp.New(`^\s*while\b`), "Go's loop is for condition { }"},
	{lazyregexp.New(`^\s*do\b\s*\{`), "Go's loops are for { } and for condition { }"},
	{lazyregexp.New(`^\s*(?:def|function|fn)\b`), "Go writes func f(x int) int { return x }"},
	{lazyregexp.New(`^\s*(?:class|struct|enum)\s+\w`), "Go writes type T struct { x int }, and func (t T) name() { } for a method"},
	{lazyregexp.New(`^\s*(?:el(?:se\s+)?if|else)\b`), "else stands on the line of the } before it: } else {, or } else if condition {"},
	{lazyregexp.New(`^\s*(?:try|except|catch|raise|throw)\b`), "errors are values in Go: if err != nil { }"},
	{lazyregexp.New(`^\s*(?:if|for|with)\b.*:\s*$`), braces},
	{lazyregexp.New(`^\s*if\s*\(.*\)\s*[^{]*$`), "Go has { } around the statements of an if"},
	{lazyregexp.New(`^\s*from\s+[\w.]+\s+import\b|^\s*import\s+[\w.]+(?:\s+as\s+\w+)?\s*;?\s*$`), `Go writes import "math", or import m "math" for a name of one's own, and then math.Sqrt(x)`},
	{lazyregexp.New(`^\s*(?:Import|Package|Func|Var|Const|Type|For|If|Switch|Return)\s`), "Go's keywords have small letters"},
	{lazyregexp.New(`\blambda\b|=>`), "Go writes func(x int) int { return x + 1 }"},
	{lazyregexp.New(`^\s*@\w`), "Go has no decorators"},
	{lazyregexp.New(`\b[fr]["']`), "Go writes fmt.Sprintf(\"hello %v\", x)"},
	{lazyregexp.New(`^[^"]*'[^']{2,}'|''`), "a string has double quotes; single ones are for one letter"},
	{lazyregexp.New(`^\s*func\b.*\)\s*->`), "a result stands without an arrow: func f(x int) int { }"},
	{lazyregexp.New(`^\s*(?:func\b.*\)\s*[\w.*\[\]]*|(?:if|for|switch)\b[^{]*)$`), "the { stands at the end of this line"},
	{lazyregexp.New(`\b(?:and|or)\b`), "Go writes && for and, || for or"},
	{lazyregexp.New(`^\s*(?:.*\W)?not\s+\w`), "Go writes ! for not"},
	{lazyregexp.New(`=.*\bif\b.*\belse\b`), "an if is a statement in Go, and no value"},
	{lazyregexp.New(`\*\*`), "Go writes math.Pow(x, y)"},
	{lazyregexp.New(`[=(]\s*[\w"]+\s+(?:not\s+)?in\s+\w`), "Go writes slices.Contains(xs, x) for a slice, and _, ok := m[key] for a map"},
	{lazyregexp.New(`\+\+\w|--\w|=[^;]*(?:\+\+|--)|(?:\+\+|--)\s*[^\s;{]`), plusPlus},
	{lazyregexp.New(`^\s*(?:template\s*<|using\s+namespace\b)`), cudaCell},
	{lazyregexp.New(`^\s*typedef\b`), "Go writes type real = float32"},
	{lazyregexp.New(`^\s*dim3\b`), "Go writes grid := gpu.Dim{X: 4}"},
	{lazyregexp.New(`^\s*(?:print|println|printf|panic|echo|len|delete)\s+[\w"]`), calls},
	{lazyregexp.New(`\b\d[\d.]*(?:e[+-]?\d+)?(?:f|F|u|U|l|L|ul|UL)\b`), "a number has no letter behind it: float32(1.0), uint32(10)"},
	{lazyregexp.New(`\bnew\s+\w`), "Go writes make([]int, 5) for a slice, and new(int) for a pointer"},
	{lazyregexp.New(`^\s*import\s*\(?\s*""[\s,]+""`), "each import stands on a line of its own"},
	{lazyregexp.New(`^\s*(?:go|defer)\s*(?:\{|func\b)`), "a function that is started is called: go func() { }()"},
	{lazyregexp.New(`^\s*func\b[^{]*\((?:[^()]*,)?\s*(?:(?:int|float|double|float32|float64|string|bool)\s+\w+|\w+\s*:\s*\w)`), behind},
	{lazyregexp.New(`^\s*(?:async|await)\b`), "Go has goroutines: go f(), and channels for what they return"},
	{lazyregexp.New(`\w\s*->\s*\w`), "Go writes ch <- x to send, and x := <-ch to receive"},
	{lazyregexp.New(`^\s*type\s*\(`), `Go writes fmt.Printf("%T", x)`},
	{lazyregexp.New(`^\s*(?:let|(?:static\s+|const\s+|unsigned\s+)*(?:auto|int|float|double|char|bool|long|unsigned|size_t|string))\s*\*?\s+\w+\s*(?:=|;|$)|^\s*(?:float|double|int|char|void)\s*\*|^\s*\w+\s*:\s*\w+\s*(?:=|$)|^\s*\w+\s*:\s+=`), declare},
	{lazyregexp.New(`[:=]\s*\[[^\]]*,.*\]\s*$`), "Go writes []int{1, 2, 3}"},
	{lazyregexp.New(`[:=]\s*\{\s*(?:""|'\w*'|\w+)\s*:`), `Go writes map[string]int{"a": 1}`},
	{lazyregexp.New(`^\s*\w+\s*:\s*\{`), "a label of a block is for goto; break and continue name a loop, or break a switch or select"},
	{lazyregexp.New(`[:=]\s*\{`), "Go writes []int{1, 2, 3}, with the type before the braces"},
	{lazyregexp.New(`^\s*\w+\s*=\s*\w+\s*=`), "Go assigns once in a statement: x, y = 5, 5"},
	{lazyregexp.New(`^\s*type\s+\w+\s+struct\b.*,`), "fields stand on lines of their own, or have ; between them"},
	{lazyregexp.New(`\w\([^()]*\w=[^=].*\)`), "Go has no named arguments: give them in their order"},
}

// otherNames are names of other languages.
var otherNames = map[string]string{
	"True": "Go writes true", "False": "Go writes false", "None": "Go writes nil", "NULL": "Go writes nil", "null": "Go writes nil", "nullptr": "Go writes nil",
	"printf": `Go writes fmt.Printf("%d\n", x)`, "puts": "Go writes fmt.Println(x)", "echo": "Go writes fmt.Println(x)", "cout": "Go writes fmt.Println(x)",
	"str": "Go writes fmt.Sprint(x)", "float": "Go has float32 and float64", "double": "Go writes float64", "char": "Go writes byte", "long": "Go writes int64",
	"unsigned": "Go writes uint32", "size_t": "Go writes int", "void": "a function without a result names none", "object": "Go writes any",
	"input": "Go writes fmt.Scanln(&x)", "range": "Go writes for i := range 10 { }", "list": "Go writes []int{1, 2, 3}", "dict": "Go writes map[string]int{}",
	"abs": "Go writes math.Abs(x)", "sqrt": "Go writes math.Sqrt(x)", "pow": "Go writes math.Pow(x, y)", "sum": "write a loop over the slice",
	"exit": "the menu of the notebook ends the kernel; return ends the cell", "quit": "the menu of the notebook ends the kernel; return ends the cell",
	"help": inspected + "; %help lists the magics", "dir": inspected + "; %who lists the variables", "this": "a method names its receiver: func (t T) name() { }",
	"self": "a method names its receiver: func (t T) name() { }", "assert": "Go writes if !ok { panic(\"...\") }", "sizeof": "Go writes unsafe.Sizeof(x)",
	"threadIdx": cudaCell, "blockIdx": cudaCell, "blockDim": cudaCell, "gridDim": cudaCell, "__syncthreads": cudaCell,
}

// Foreign is the Go for a wrong line of another language, "" if the line matches none.
func (a *Advice) Foreign(line string) string {
	if answer := a.hostCode(line); answer != "" {
		return answer
	}
	line = text().ReplaceAllString(line, `""`)
	for _, h := range habits {
		if h.pattern().MatchString(line) {
			return h.answer
		}
	}
	return ""
}

// text is the part of a line that is not code: literals and comments.
var text = lazyregexp.New(`"(?:\\.|[^"\\])*"?|` + "`[^`]*`?" + `|//.*`)
