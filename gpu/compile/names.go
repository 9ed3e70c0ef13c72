package compile

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/spelling"
)

// remedies are what to write for names that no header of the cell declares. Names that
// a header of CUDA declares stand in builtins.txt.
var remedies = map[string]string{
	"real": "define it in the cell: typedef float real;",
	"u32":  "define it in the cell: typedef unsigned u32;", "u64": "define it in the cell: typedef unsigned long long u64;",
	"FULL_MASK": "define it in the cell: #define FULL_MASK 0xffffffff", "WARP_SIZE": "define it in the cell: #define WARP_SIZE 32",
	"cooperative_groups": "#include <cooperative_groups.h>", "cg": "#include <cooperative_groups.h> and namespace cg = cooperative_groups;",
	"thread_block": groups, "thread_group": groups, "thread_block_tile": groups, "this_thread_block": groups, "tiled_partition": groups,
	"wmma": "#include <mma.h> and using namespace nvcuda;", "nvcuda": "#include <mma.h>",
	"__lanemask_lt": `define it in the cell: __device__ unsigned __lanemask_lt() { unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }`,
	"CHECK":         "errors are Go's: delete it",
	"__shfl":        synced, "__shfl_up": synced, "__shfl_down": synced, "__shfl_xor": synced, "__any": synced, "__all": synced, "__ballot": synced,
	"rand": random, "srand": random, "rand_r": random, "drand48": random,
	"cout": "write printf, which needs no header", "std::cout": "write printf, which needs no header",
	"std::max": "write max, which needs no header", "std::min": "write min, which needs no header",
	"std::vector": fixed, "std::string": "write const char*, which needs no header", "std::map": fixed, "std::list": fixed,
	"cuda::barrier": "#include <cuda/barrier>", "cuda::pipeline": "#include <cuda/pipeline>", "cuda::make_pipeline": "#include <cuda/pipeline>",
	"cuda::memcpy_async": "#include <cuda/barrier>", "cuda::atomic": "#include <cuda/atomic>", "cuda::atomic_ref": "#include <cuda/atomic>",
	"cuda::latch": "#include <cuda/latch>", "cuda::counting_semaphore": "#include <cuda/semaphore>", "cuda::binary_semaphore": "#include <cuda/semaphore>",
}

const (
	groups = "#include <cooperative_groups.h> and using namespace cooperative_groups;"
	synced = "write %s_sync(0xffffffff, ...): the first argument names the lanes that take part"
	random = "the device has no generator of C: fill a buffer in a Go cell, or hash the index of the thread, such as 1664525u * i + 1013904223u"
	fixed  = "the host's: an array of fixed size, such as float v[8], or a buffer as a parameter"
)

// standardMembers are names of namespace std, by the header that declares them.
var standardMembers = map[string][]string{
	"limits": {"numeric_limits"}, "array": {"array"}, "utility": {"pair", "make_pair", "swap", "exchange", "index_sequence", "make_index_sequence"},
	"tuple": {"tuple", "make_tuple", "tie", "get"}, "optional": {"optional", "nullopt"}, "complex": {"complex"}, "span": {"span"},
	"functional": {"plus", "minus", "multiplies", "less", "greater"}, "atomic": {"atomic", "memory_order"},
	"type_traits": {"enable_if", "enable_if_t", "conditional", "conditional_t", "is_same", "is_same_v", "is_integral", "is_integral_v",
		"is_floating_point", "is_floating_point_v", "is_signed", "is_unsigned", "is_pointer", "remove_reference", "remove_reference_t",
		"remove_const", "remove_cv", "remove_cv_t", "decay", "decay_t", "make_unsigned", "make_unsigned_t", "make_signed", "true_type", "false_type",
		"integral_constant", "common_type", "common_type_t", "is_convertible", "void_t"},
}

// remedy is what to write for an unknown name, with its namespace in front, "" if
// that is not known.
func remedy(name string) string {
	if answer, ok := remedies[name]; ok {
		return strings.ReplaceAll(answer, "%s_sync", name+"_sync")
	}
	if b, ok := FindBuiltin(name); ok && b.Header != "" {
		return "#include <" + b.Header + ">"
	}
	for prefix, header := range map[string]string{"CUDART_": "math_constants.h", "curand": "curand_kernel.h"} {
		if strings.HasPrefix(name, prefix) {
			return "#include <" + header + ">"
		}
	}
	for prefix, folder := range map[string]string{"std::": "", "cuda::std::": "cuda/std/"} {
		member, ok := strings.CutPrefix(name, prefix)
		for header, names := range standardMembers {
			if ok && slices.Contains(names, member) {
				return "#include <" + folder + header + ">"
			}
		}
	}
	return ""
}

// explainName names the header, the definition or the misspelling that an unknown name
// suggests.
func explainName(s *source, line int, message string, found []string) (text, cause string) {
	name := found[1] + found[2]
	if found[3] != "" {
		name = found[3] + "::" + found[4]
	}
	answer := remedy(name)
	switch {
	case strings.Contains(s.line(line-1), "//") && strings.HasPrefix(s.line(line), name+" "):
		answer = "the comment of the line before seems to continue here: put // before it"
	case answer != "":
	default:
		if answer = s.nearest(found[1] + found[2] + found[4]); answer != "" {
			answer = "nearest: " + answer
			break
		}
		if name == strings.ToUpper(name) && strings.IndexFunc(name, unicode.IsLetter) >= 0 {
			answer = "define it in the cell with its value: #define " + name + " ..."
			break
		}
		return message + ": declare it in the cell", ""
	}
	return message + ": " + answer, name
}

var vectorType = lazyregexp.New(`^(?:u?(?:char|short|int|long|longlong)|float|double|dim)([1-4])$`)

// explainMember names the members of a vector, such as threadIdx.
func explainMember(_ *source, _ int, message string, found []string) (text, cause string) {
	m := vectorType().FindStringSubmatch(found[1])
	if m == nil {
		return message, ""
	}
	members := []string{"x", "y", "z", "w"}[:m[1][0]-'0']
	if lower := strings.ToLower(found[2]); slices.Contains(members, lower) {
		return message + ": nearest: " + lower, found[1] + "." + found[2]
	}
	return message + ": its members are " + strings.Join(members, ", "), found[1] + "." + found[2]
}

// explainDeprecated names what replaces a function. The first line of the compiler's
// message is the function alone.
func explainDeprecated(_ *source, _ int, message string, found []string) (text, cause string) {
	if answer := remedy(found[1]); answer != "" {
		return message + " is deprecated: " + answer, found[1]
	}
	return message + " is deprecated", ""
}

var unsyncedVote = lazyregexp.New(`\bvote\.(any|all|ballot)\b`)

// unsynced adds warnings of votes without a mask, which no GPU since Volta has: NVRTC 12
// warns of them, NVRTC 13 does not.
func (s *source) unsynced(warnings []Diagnostic, text string) []Diagnostic {
	for _, m := range unsyncedVote().FindAllStringSubmatch(text, -1) {
		message, _ := explainDeprecated(s, 0, `function "__`+m[1]+`"`, []string{"", "__" + m[1]})
		at := s.wordAt("__" + m[1])
		if at >= 0 && !slices.ContainsFunc(warnings, func(d Diagnostic) bool { return d.Text == message }) {
			warnings = append(warnings, s.diagnostic(at, "%s", message))
		}
	}
	return warnings
}

var qualified = lazyregexp.New(`\b([A-Za-z_]\w*)(?:\s*::\s*([A-Za-z_]\w*))?(?:\s*::\s*([A-Za-z_]\w*))?`)

// explainNamespace names the header of a namespace that is unknown. The message does
// not name it: it is the first word of the line that has a remedy.
func explainNamespace(s *source, line int, message string, _ []string) (text, cause string) {
	for _, m := range qualified().FindAllStringSubmatch(s.codeLine(line), -1) {
		for n := len(m) - 1; n > 0; n-- {
			if m[n] == "" {
				continue
			}
			if answer := remedy(strings.Join(m[1:n+1], "::")); answer != "" {
				return message + ": " + answer, m[1]
			}
		}
	}
	return message, ""
}

var word = lazyregexp.New(`[A-Za-z_]\w*`)

// nearest is the name that an unknown one probably means: of the cell, or of CUDA; "" if
// none is near.
func (s *source) nearest(name string) string {
	near, least := "", farthest+1
	consider := func(w string, builtin bool) {
		if d := misspelling(name, w, builtin); d < least {
			near, least = w, d
		}
	}
	for _, w := range word().FindAllString(blankComments(s.text), -1) {
		if _, builtin := FindBuiltin(w); !builtin && !slices.Contains(s.unknown, w) {
			consider(w, false)
		}
	}
	for _, b := range builtins() {
		if b.Header == "" && b.Name != name {
			consider(b.Name, true)
			if plain, ok := strings.CutSuffix(b.Name, "f"); ok && strings.HasPrefix(b.Declaration, "float ") {
				consider(plain, true) // for every type
			}
		}
	}
	return near
}

// farthest is the distance of the farthest name that misspelling still reports.
const farthest = 3

// misspelling is the distance of a name from the one that may be meant, more than
// farthest if it is not near. Names that differ in case and underscores only, or in the
// order of the letters behind the first, are nearest: sqrrt is no rsqrt. Names of a cell
// that differ in their last letter number things.
func misspelling(name, meant string, builtin bool) int {
	plain, other := plainName(name), plainName(meant)
	d := spelling.Distance(plain, other)
	switch {
	case name == strings.ToUpper(name) && meant != strings.ToUpper(meant): // a constant means no variable
	case plain == other || plain != "" && other != "" && plain[0] == other[0] && sorted(plain) == sorted(other):
		return 0
	case len(name) <= 3 || name == strings.ToUpper(name) || !builtin && len(plain) == len(other) && plain[:len(plain)-1] == other[:len(other)-1]:
	case d == 1 || d == 2 && len(name) > 6:
		return d
	case strings.HasPrefix(meant, name):
		return farthest
	}
	return farthest + 1
}

func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func sorted(word string) string {
	letters := []byte(word)
	slices.Sort(letters)
	return string(letters)
}

// endlessTemplates matches what NVRTC and clang say of templates that instantiate each other
// until the compiler's limit.
var endlessTemplates = lazyregexp.New(`^excessive recursion at instantiation of |^recursive template instantiation exceeded `)

// explanations map messages of the compiler to the changes that are needed. The cause is
// an unknown name whose remedy removes other complaints, too, "" if there is none.
var explanations = []struct {
	pattern func() *regexp.Regexp
	explain func(s *source, line int, message string, found []string) (text, cause string)
}{
	{lazyregexp.New(`host functions are not allowed in JIT mode`), says("host function: write it in Go in a cell of its own, or __device__ before it if a kernel calls it")},
	{endlessTemplates, says("templates without an end: each instance needs another: end them by a specialization, or by if constexpr")},
	{endlessHeaders, says("the cell includes itself: delete the line")},
	{lazyregexp.New(`^A namespace scope variable without memory space`), says("variable of the host: write it in Go in a cell of its own, or __device__ before it if a kernel uses it")},
	{lazyregexp.New(`identifier "(\w+)" is undefined|"(\w+)" is not a template|namespace "([\w:]+)" has no member "(\w+)"`), explainName},
	{lazyregexp.New(`^class "(\w+)" has no member "(\w+)"$`), explainMember},
	{lazyregexp.New(`^function "(\w+)"$`), explainDeprecated},
	{lazyregexp.New(`name followed by "::" must|name must be a namespace|explicit instantiation`), explainNamespace},
	{lazyregexp.New(`^expected a declaration|storage class is not specified|this declaration has no storage class or type specifier`), func(_ *source, _ int, message string, _ []string) (string, string) {
		return message + ": statements stand in the body of a function: put __global__ void name(...) { } around them", ""
	}},
}

// says replaces a message.
func says(text string) func(*source, int, string, []string) (string, string) {
	return func(*source, int, string, []string) (string, string) { return text, "" }
}

// explain adds the remedy to a message of the compiler.
func (s *source) explain(line int, message string) (text, cause string) {
	if s.needs != "" {
		return strings.TrimSuffix(message, ":") + ": write %%cuda --arch " + s.needs + ", for which the cell compiles", s.needs
	}
	for _, e := range explanations {
		if found := e.pattern().FindStringSubmatch(message); found != nil {
			return e.explain(s, line, message, found)
		}
	}
	return message, ""
}
