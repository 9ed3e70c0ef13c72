package compile

import "warpbook/kernel/leaf/lazyregexp"

// externShared matches a declaration of an array whose size the launch gives.
var externShared = lazyregexp.New(`\bextern\s+__shared__\s[^;{}]*?([A-Za-z_]\w*)\s*\[\s*\]`)

// aliases warns of functions with several arrays of dynamic shared memory: all of them
// begin at the same byte.
func (s *source) aliases() (warnings []Diagnostic) {
	for _, f := range s.functions {
		first := ""
		for _, m := range externShared().FindAllStringSubmatchIndex(s.code[f.from:f.to], -1) {
			name := s.code[f.from+m[2] : f.from+m[3]]
			if first == "" {
				first = name
			} else if name != first {
				warnings = append(warnings, s.diagnostic(f.from+m[2],
					"%s begins where %s does: all extern __shared__ arrays are the same memory; declare one, and let a pointer into it be the other", name, first))
			}
		}
	}
	return warnings
}
