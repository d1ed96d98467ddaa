package scalar

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// AppendFloat writes a finite number: without an exponent where people write
// none, without a fraction where there is none, but with a point where there
// is an exponent, for YAML 1.1 takes 1e-9 for text and 1.0e-9 for a number.
func AppendFloat(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = slices.Insert(dst, start+bytes.IndexByte(dst[start:], 'e'), '.', '0')
	}
	return dst
}

// NumberValue is a written number as the object builder has it: int64 where it
// is a whole number of 64 bits, as Kubernetes reads JSON, else float64.
func NumberValue(text []byte) any {
	if i, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return string(text)
	}
	return f
}
