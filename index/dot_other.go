//go:build !amd64

package index

// dotInt8 is the inner product of two rows of one length.
func dotInt8(a, b []int8) int32 { return dotGeneric(a, b) }
