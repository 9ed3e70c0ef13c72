package arith

// Rows are all rows by name.
var Rows = indexRows(
	integerRows[uint16]("u16", "h", mulHigh16U), integerRows[int16]("s16", "h", mulHigh16S),
	integerRows[uint32]("u32", "w", MulHigh32U), integerRows[int32]("s32", "w", MulHigh32S),
	integerRows[uint64]("u64", "d", MulHigh64U), integerRows[int64]("s64", "d", MulHigh64S),
	wideRows, signedRows[int16]("s16", "h"), signedRows[int32]("s32", "w"), signedRows[int64]("s64", "d"),
	logicRows[uint16]("b16", "h"), logicRows[uint32]("b32", "w"), logicRows[uint64]("b64", "d"),
	pairRows[uint16]("u16x2"), pairRows[int16]("s16x2"), videoRows(), predicateRows, bitRows, float32Rows, float64Rows, halfRows("f16"), halfRows("bf16"),
)

func indexRows(tables ...[]Row) map[string]*Row {
	index := map[string]*Row{}
	for _, t := range tables {
		for i := range t {
			index[t[i].Name] = &t[i]
		}
	}
	return index
}
