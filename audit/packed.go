package audit

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"optcheck/litmus"
)

// Packed is a list of tests that takes little memory: about 200 bytes per test, where the test
// itself takes 3 KB or more. Tests are unpacked in canonical form, but otherwise as they were
// added, including positions in files. It must not be used while tests are added.
type Packed struct {
	names, hashes []string
	blocks        [][]byte     // of blockTests each
	open          []packedTest // of the next block
	zip           *zstd.Encoder
	unzip         *zstd.Decoder
}

// packedTest is a test and its origin.
type packedTest struct {
	Test         *litmus.Test
	Preset, File string
}

// blockTests is the number of tests that are packed together: enough that their common parts
// cost almost nothing.
const blockTests = 64

// blockWindow is the distance in bytes within which the packer finds repetitions.
const blockWindow = 1 << 17

func init() {
	for _, x := range []litmus.Expr{litmus.And{}, litmus.Or{}, litmus.Not{}, litmus.True{}, litmus.Atom{}} {
		gob.Register(x)
	}
}

// NewPacked returns an empty list.
func NewPacked() (*Packed, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(blockWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return &Packed{zip: zip, unzip: unzip}, err
}

// Add appends a test with its hash, which the caller knows; at most one of preset and file is
// given.
func (p *Packed) Add(t *litmus.Test, hash, preset, file string) error {
	p.names, p.hashes = append(p.names, strings.Clone(t.Name)), append(p.hashes, hash)
	p.open = append(p.open, packedTest{t.Canonical(), preset, file})
	if len(p.open) < blockTests {
		return nil
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(p.open); err != nil {
		return fmt.Errorf("test %s and those before it cannot be packed: %w", t.Name, err)
	}
	p.blocks, p.open = append(p.blocks, bytes.Clone(p.zip.EncodeAll(b.Bytes(), nil))), nil
	return nil
}

// Len returns the number of tests.
func (p *Packed) Len() int { return len(p.names) }

// Name returns the name of a test.
func (p *Packed) Name(i int) string { return p.names[i] }

// unpack returns n tests, beginning with number first.
func (p *Packed) unpack(first, n int) ([]packedTest, error) {
	out := make([]packedTest, 0, n)
	for b := first / blockTests; len(out) < n; b++ {
		block, err := p.block(b)
		if err != nil {
			return nil, err
		}
		from := max(0, first-b*blockTests)
		out = append(out, block[from:min(len(block), from+n-len(out))]...)
	}
	return out, nil
}

func (p *Packed) block(b int) (block []packedTest, err error) {
	if b == len(p.blocks) {
		return p.open, nil
	}
	data, err := p.unzip.DecodeAll(p.blocks[b], nil)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&block)
	}
	if err != nil {
		return nil, fmt.Errorf("packed tests: %w", err)
	}
	return block, nil
}

// Tests unpacks all tests.
func (p *Packed) Tests() ([]*litmus.Test, error) {
	list, err := p.unpack(0, p.Len())
	return testsOf(list), err
}

func testsOf(list []packedTest) []*litmus.Test {
	out := make([]*litmus.Test, len(list))
	for i := range list {
		out[i] = list[i].Test
	}
	return out
}
