package scalar

import "slices"

// Ambiguous reports whether a YAML 1.1 or 1.2 reader takes a plain s for something other
// than a string. That is null, a boolean, a number in any notation of either version, a
// date, or a merge key. It follows the YAML 1.1 type repository and the YAML 1.2 core
// schema. It also covers underscores and prefixes that common readers accept.
func Ambiguous[T Text](s T) bool {
	if len(s) == 0 {
		return true
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9':
		return number(s) || date(s)
	case c == '+' || c == '-':
		return number(s[1:]) || specialFloat(s[1:])
	case c == '.':
		return number(s) || specialFloat(s)
	case c == '~' || c == '=':
		return len(s) == 1
	case c == '<':
		return string(s) == "<<"
	}
	return len(s) <= 5 && reservedWord(string(s))
}

func reservedWord(s string) bool {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO",
		"true", "True", "TRUE", "false", "False", "FALSE",
		"on", "On", "ON", "off", "Off", "OFF",
		"null", "Null", "NULL":
		return true
	}
	return false
}

// specialFloat reports whether s is an infinity or not-a-number, without its sign.
func specialFloat[T Text](s T) bool {
	switch string(s) {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return true
	}
	return false
}

// number reports whether s is a number without its sign. It knows decimal, 0b, 0o, 0x,
// base 60, and floats. Readers first drop underscores at any place.
func number[T Text](s T) bool {
	for i := range len(s) {
		if s[i] == '_' {
			copied := append([]byte(nil), s...)
			return number(slices.DeleteFunc(copied, func(c byte) bool { return c == '_' }))
		}
	}
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'b', 'B':
			return digits(unsigned(s[2:]), 2)
		case 'o', 'O':
			return digits(unsigned(s[2:]), 8)
		case 'x', 'X':
			return digits(unsigned(s[2:]), 16)
		}
	}
	i := skipDigits(s, 0)
	if i == len(s) {
		return i > 0
	}
	if s[i] == ':' {
		return i > 0 && base60(s[i:])
	}
	if s[i] == '.' {
		end := skipDigits(s, i+1)
		if i == 0 && end == 1 {
			return false // a lone dot, or a dot before a word
		}
		i = end
	}
	return i == len(s) || i > 0 && exponent(s[i:])
}

func exponent[T Text](s T) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	return digits(unsigned(s[1:]), 10)
}

// unsigned removes a sign from s. Some readers also accept a sign after a prefix, so that
// "0o-7" is -7.
func unsigned[T Text](s T) T {
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// base60 reports whether s is the tail of a sexagesimal number, such as ":30", ":30:05" or
// ":30.5".
func base60[T Text](s T) bool {
	for i := 0; i < len(s); {
		if s[i] == '.' {
			return skipDigits(s, i+1) == len(s)
		}
		if s[i] != ':' {
			return false
		}
		end := skipDigits(s, i+1)
		if n := end - i - 1; n == 0 || n > 2 {
			return false
		}
		i = end
	}
	return true
}

func skipDigits[T Text](s T, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

func digits[T Text](s T, base int) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9' && int(c-'0') < base:
		case base == 16 && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'):
		default:
			return false
		}
	}
	return len(s) > 0
}

// date reports whether YAML 1.1 reads s as a timestamp. That is 2006-01-02, alone or
// before a time of day. Readers differ about the time's syntax, so its first digit is
// enough.
func date[T Text](s T) bool {
	i := skipDigits(s, 0)
	if i != 4 {
		return false
	}
	for range 2 {
		if i == len(s) || s[i] != '-' {
			return false
		}
		end := skipDigits(s, i+1)
		if n := end - i - 1; n == 0 || n > 2 {
			return false
		}
		i = end
	}
	if i == len(s) {
		return true
	}
	if s[i] != 'T' && s[i] != 't' && !isBlank(s[i]) {
		return false
	}
	for i++; i < len(s) && isBlank(s[i]); i++ {
	}
	return i < len(s) && s[i] >= '0' && s[i] <= '9'
}
