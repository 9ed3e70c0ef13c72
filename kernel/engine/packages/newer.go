package packages

import "strings"

// newer are the packages and exported names of the standard library of Go 1.27 that cells
// do not have, also where Go 1.27 builds the cells program: the tables of the standard
// library are those of the engine library, which were made with Go 1.26, the Go that this
// module requires.
const newer = `
bytes.CutLast
crypto.MLDSAMu
crypto/mldsa
crypto/tls.MLDSA44
crypto/tls.MLDSA65
crypto/tls.MLDSA87
crypto/tls.MLKEM1024
crypto/x509.MLDSA
crypto/x509.MLDSA44
crypto/x509.MLDSA65
crypto/x509.MLDSA87
database/sql.ConvertAssign
database/sql/driver.RowsColumnScanner
database/sql/driver.ScanContext
encoding/json.CallMethodsWithLegacySemantics
encoding/json.DefaultOptionsV1
encoding/json.FormatByteArrayAsArray
encoding/json.FormatBytesWithLegacySemantics
encoding/json.FormatDurationAsNano
encoding/json.MatchCaseSensitiveDelimiter
encoding/json.MergeWithLegacySemantics
encoding/json.OmitEmptyWithLegacySemantics
encoding/json.Options
encoding/json.ParseBytesWithLooseRFC4648
encoding/json.ParseTimeWithLooseRFC3339
encoding/json.ReportErrorsWithLegacySemantics
encoding/json.StringifyWithLegacySemantics
encoding/json.UnmarshalArrayFromAnyLength
encoding/json/jsontext
encoding/json/v2
go/constant.StringLen
go/types.Hasher
go/types.HasherIgnoreTags
hash/maphash.ComparableHasher
hash/maphash.Hasher
math/big.Ceil
math/big.Floor
math/big.Round
math/big.Trunc
net/http.DefaultMaxHeaderValueCount
net/http/httptest.NewTestServer
strings.CutLast
testing/synctest.Sleep
unicode.Beria_Erfe
unicode.Garay
unicode.Gurung_Khema
unicode.IDS_Unary_Operator
unicode.ID_Compat_Math_Continue
unicode.ID_Compat_Math_Start
unicode.Kirat_Rai
unicode.Modifier_Combining_Mark
unicode.Ol_Onal
unicode.Sidetic
unicode.Sunuwar
unicode.Tai_Yo
unicode.Todhri
unicode.Tolong_Siki
unicode.Tulu_Tigalari
uuid
`

// Newer are the packages and names that a version of Go has and the tables lack.
var Newer = map[string][]string{"go1.27": strings.Fields(newer)}
