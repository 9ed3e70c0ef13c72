//go:build ignore && go1.24

package reflectx

// cloneMap copies the description of a map.
func cloneMap(st, ost *mapType) {
	head := st.Type
	*st = *ost
	st.Type = head
}
