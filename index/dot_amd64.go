package index

import "golang.org/x/sys/cpu"

//go:noescape
func dotAVX2(a, b *int8, n int) int32

// dotInt8 is the inner product of two rows of one length: six times as fast
// with AVX2 (BenchmarkDot), which every amd64 server since 2015 has.
func dotInt8(a, b []int8) int32 {
	if len(a) == 0 || len(a)%32 != 0 || !cpu.X86.HasAVX2 {
		return dotGeneric(a, b)
	}
	return dotAVX2(&a[0], &b[:len(a)][0], len(a))
}
