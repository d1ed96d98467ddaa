package naming

// These checks accept exactly the texts that k8s.io/apimachinery/pkg/util/validation accepts.
// Every rendered name and label passes them, and a scan of its bytes takes a twentieth of the
// time of that package's regular expressions. Those only word the refusals.

// IsDNS1123Subdomain reports whether s is a lower case DNS name of at most 253
// characters, as most kinds of objects have.
func IsDNS1123Subdomain[T string | []byte](s T) bool {
	return len(s) <= 253 && isDNSName(s, true)
}

// IsDNS1123Label reports whether s is one lower case DNS label of at most 63
// characters, as namespaces and services have.
func IsDNS1123Label[T string | []byte](s T) bool {
	return len(s) <= maxLabel && isDNSName(s, false)
}

func isDNSName[T string | []byte](s T, dots bool) bool {
	// start is set if the next character begins a label, and end if a label may end here.
	start, end := true, false
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c) || isDigit(c):
			start, end = false, true
		case c == '-' && !start:
			end = false
		case c == '.' && dots && end:
			start, end = true, false
		default:
			return false
		}
	}
	return end
}

// IsLabelValue reports whether s can be the value of a label. It is empty, or has at most
// 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends.
func IsLabelValue[T string | []byte](s T) bool {
	if len(s) == 0 {
		return true
	}
	if len(s) > maxLabel || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isDigit(c) || c >= 'A' && c <= 'Z' }
