package ptx

import "strings"

// specials are the special registers without their '%'; true for those with
// components .x, .y, .z and .w.
var specials = map[string]bool{
	"tid": true, "ntid": true, "ctaid": true, "nctaid": true,
	"clusterid": true, "nclusterid": true, "cluster_ctaid": true, "cluster_nctaid": true,
	"cluster_ctarank": false, "cluster_nctarank": false, "is_explicit_cluster": false,
	"laneid": false, "warpid": false, "nwarpid": false, "smid": false, "nsmid": false, "gridid": false,
	"lanemask_eq": false, "lanemask_le": false, "lanemask_lt": false, "lanemask_ge": false, "lanemask_gt": false,
	"clock": false, "clock_hi": false, "clock64": false,
	"globaltimer": false, "globaltimer_lo": false, "globaltimer_hi": false,
	"total_smem_size": false, "aggr_smem_size": false, "dynamic_smem_size": false,
	"reserved_smem_offset_begin": false, "reserved_smem_offset_end": false, "reserved_smem_offset_cap": false,
	"reserved_smem_offset_0": false, "reserved_smem_offset_1": false,
	"current_graph_exec": false,
}

// special reports whether the name, with its '%', is a special register, and whether
// the register has components.
func special(name string) (known, vector bool) {
	word := strings.TrimPrefix(name, "%")
	if len(word) == len(name) {
		return false, false
	}
	vector, known = specials[word]
	if known {
		return true, vector
	}
	stem := strings.TrimRight(word, "0123456789")
	numbered := stem == "envreg" || stem == "pm" || strings.HasPrefix(word, "pm") && strings.HasSuffix(word, "_64")
	return numbered && len(word) > len(stem), false
}
