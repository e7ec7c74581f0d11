package verify

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Number reads an integer as a parameter of a size in bytes, or a number with a point or exponent as f32 or f64.
func Number(s string, size int64) (uint64, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), nil
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, errors.New("no number")
	case size == 8:
		return math.Float64bits(f), nil
	case size == 4:
		return uint64(math.Float32bits(float32(f))), nil
	}
	return 0, fmt.Errorf("a parameter of %d bytes is no floating-point number", size)
}
