package scalar

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// AppendFloat writes a finite number as the value of a field. It avoids an exponent and a
// fraction where people write none. Some readers take an integer of more than 64 bits for
// text, so a large number has an exponent. It gets a point, because YAML 1.1 takes 1e-9
// for text and 1.0e-9 for a number.
func AppendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	switch {
	case abs == 0:
		return append(dst, '0') // never -0
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = slices.Insert(dst, start+bytes.IndexByte(dst[start:], 'e'), '.', '0')
	}
	return dst
}

// NumberValue parses a written number as Kubernetes reads JSON. An integer of 64 bits
// becomes an int64, and other numbers a float64.
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
