package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The first byte of a blob says how the rest is encoded.
const (
	codecPlain = 0
	codecZstd  = 1
)

var coders = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	// Neither fails with these options.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlob))
	if err != nil {
		panic(err)
	}
	return enc, dec
})

// pack compresses data if that makes it smaller.
func pack(data []byte) []byte {
	if len(data) > 128 {
		enc, _ := coders()
		if out := enc.EncodeAll(data, []byte{codecZstd}); len(out) <= len(data) {
			return out
		}
	}
	return append([]byte{codecPlain}, data...)
}

// unpack is the inverse of pack. It returns at most maxBlob bytes.
func unpack(blob []byte) ([]byte, error) {
	if len(blob) == 0 {
		return nil, errors.New("empty blob")
	}
	switch blob[0] {
	case codecPlain:
		return blob[1:], nil
	case codecZstd:
		_, dec := coders()
		return dec.DecodeAll(blob[1:], nil)
	}
	return nil, fmt.Errorf("blob of unknown coding %d", blob[0])
}

// hashed unpacks a blob and compares it with the hash of its content.
func hashed(hash, blob []byte) ([]byte, error) {
	data, err := unpack(blob)
	if err != nil {
		return nil, err
	}
	if d := digestOf(data); !bytes.Equal(d[:], hash) {
		return nil, errors.New("does not match its hash")
	}
	return data, nil
}

// digest identifies content.
type digest [16]byte

func digestOf(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest(sum[:16])
}

// marshal returns the JSON of the event stream.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// unmarshal reads JSON written by marshal.
func unmarshal(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// codeValue returns the form in which the hash of machine code is stored: a number if it has 16
// hexadecimal digits, nil if it is empty.
func codeValue(s string) any {
	if s == "" {
		return nil
	}
	if len(s) == 16 {
		var b [8]byte
		if _, err := hex.Decode(b[:], []byte(s)); err == nil && hex.EncodeToString(b[:]) == s {
			return int64(binary.BigEndian.Uint64(b[:]))
		}
	}
	return s
}

// codeText is the inverse of codeValue.
func codeText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case int64:
		const digits = "0123456789abcdef"
		var b [16]byte
		for i, n := 15, uint64(v); i >= 0; i, n = i-1, n>>4 {
			b[i] = digits[n&15]
		}
		return string(b[:]), nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return "", fmt.Errorf("hash of machine code of type %T", v)
}
