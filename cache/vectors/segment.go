package vectors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"time"
)

// A segment file: magic, then dimension, length of the embedder's ID, that ID,
// and a CRC-32C of all these; then records of one size: the SHA-256 of a text,
// its vector, a CRC-32C of both. Numbers are little-endian. A part of a record
// at the end is what a killed process left; it counts for nothing.
const (
	magic   = "skillrouter vectors 1\n"
	suffix  = ".vec"
	maxID   = 1 << 12
	maxDim  = 1 << 16
	sumSize = 4
)

// errNoSegment says that a file has no head of a segment.
var errNoSegment = errors.New("not a segment of vectors")

func checksum(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

type segment struct {
	file     *os.File
	embedder string
	dim      int
	time     time.Time // it was last of use, when it was opened
	head     int       // bytes
	keys     [][sha256.Size]byte
	used     map[int]bool // records got or put
	scratch  []byte
}

func (g *segment) recordSize() int { return sha256.Size + 4*g.dim + sumSize }

// offset is where a record begins.
func (g *segment) offset(record int) int64 {
	return int64(g.head) + int64(record)*int64(g.recordSize())
}

func createSegment(dir, embedder string, dim int) (*segment, error) {
	if len(embedder) > maxID || dim > maxDim {
		return nil, fmt.Errorf("an embedder with an ID of %d bytes and %d dimensions is not kept", len(embedder), dim)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "*"+suffix) // readable by its owner alone
	if err != nil {
		return nil, err
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(dim))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(embedder)))
	head = append(head, embedder...)
	head = binary.LittleEndian.AppendUint32(head, checksum(head))
	if _, err := f.Write(head); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &segment{file: f, embedder: embedder, dim: dim, head: len(head), used: map[int]bool{}}, nil
}

// openSegment reads the head and the keys; vectors are read when asked for.
func openSegment(path string) (*segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	g := &segment{file: f, used: map[int]bool{}}
	if err := g.readHead(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return g, nil
}

func (g *segment) readHead() error {
	info, err := g.file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, len(magic)+8+maxID+sumSize)
	n, _ := g.file.ReadAt(head, 0) // what is missing shows below
	head = head[:n]
	if len(head) < len(magic)+8 || !bytes.HasPrefix(head, []byte(magic)) {
		return errNoSegment
	}
	dim := binary.LittleEndian.Uint32(head[len(magic):])
	id := binary.LittleEndian.Uint32(head[len(magic)+4:])
	if dim == 0 || dim > maxDim || id > maxID || len(head) < len(magic)+8+int(id)+sumSize {
		return errNoSegment
	}
	end := len(magic) + 8 + int(id)
	if checksum(head[:end]) != binary.LittleEndian.Uint32(head[end:]) {
		return errNoSegment
	}
	g.time = info.ModTime()
	g.dim, g.embedder, g.head = int(dim), string(head[len(magic)+8:end]), end+sumSize
	g.keys = make([][sha256.Size]byte, (info.Size()-int64(g.head))/int64(g.recordSize()))
	for i := range g.keys {
		if _, err := g.file.ReadAt(g.keys[i][:], g.offset(i)); err != nil {
			return err
		}
	}
	return nil
}

// read returns the vector of a record, and whether its checksum is right.
func (g *segment) read(record int) ([]float32, bool) {
	size := g.recordSize()
	if len(g.scratch) < size {
		g.scratch = make([]byte, size)
	}
	r := g.scratch[:size]
	if _, err := g.file.ReadAt(r, g.offset(record)); err != nil {
		return nil, false
	}
	body := r[:size-sumSize]
	if checksum(body) != binary.LittleEndian.Uint32(r[size-sumSize:]) || !bytes.Equal(body[:sha256.Size], g.keys[record][:]) {
		return nil, false
	}
	v := make([]float32, g.dim)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[sha256.Size+4*i:]))
	}
	return v, true
}

// append writes records at the end, all or, on an error, none.
func (g *segment) append(keys [][sha256.Size]byte, vectors [][]float32) error {
	data := make([]byte, 0, len(keys)*g.recordSize())
	for i, key := range keys {
		if len(vectors[i]) != g.dim {
			return fmt.Errorf("a vector has %d values, the others have %d", len(vectors[i]), g.dim)
		}
		from := len(data)
		data = append(data, key[:]...)
		for _, x := range vectors[i] {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		data = binary.LittleEndian.AppendUint32(data, checksum(data[from:]))
	}
	at := g.offset(len(g.keys))
	if _, err := g.file.WriteAt(data, at); err != nil {
		return errors.Join(err, g.file.Truncate(at))
	}
	g.keys = append(g.keys, keys...)
	return nil
}

func (g *segment) close() error { return g.file.Close() }
