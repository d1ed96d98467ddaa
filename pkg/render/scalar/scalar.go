package scalar

import "unicode/utf8"

// Style is the way to write a string in YAML block style.
type Style uint8

// These are the styles, each with an example.
const (
	Plain   Style = iota // unchanged
	Single               // 'it''s'
	Double               // "with\tescapes"
	Literal              // | block
)

// Text is the type of a manifest's string.
type Text interface{ ~string | ~[]byte }

// StyleOf chooses the style of a string. It is plain unless a YAML 1.1 or 1.2 reader would
// take it for something else. Text with several lines becomes a literal block, and other
// text is quoted. Single quotes avoid escapes of double quotes in the text.
func StyleOf[T Text](s T) Style {
	if isWord(s) && !Ambiguous(s) {
		return Plain
	}
	c := scan(s)
	switch {
	case c.unprintable:
		return Double
	case c.newline:
		if c.literal {
			return Literal
		}
		return Double
	case !c.special && !Ambiguous(s):
		return Plain
	case c.quotes:
		return Single
	}
	return Double
}

// isWord is the fast check for most values, such as names, images, addresses and URLs.
// They have only letters, digits and a few separators. YAML reads such text as it is.
func isWord[T Text](s T) bool {
	if len(s) == 0 || !IsAlnum(s[0]) || s[len(s)-1] == ':' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !IsAlnum(c) && (c < '-' || c > '/') && c != ':' && c != '_' && c != '@' {
			return false
		}
	}
	return true
}

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
}

// traits are the findings of one pass over a string.
type traits struct {
	newline     bool // has a line feed
	literal     bool // fits a literal block if it has line feeds
	unprintable bool // has characters that need escapes
	special     bool // a plain scalar would cut or change it
	quotes      bool // has characters that need escapes in double quotes
	tab         bool
}

func scan[T Text](s T) traits {
	var c traits
	if len(s) == 0 || indicator(s) || isBlank(s[0]) || isBlank(s[len(s)-1]) || s[len(s)-1] == ':' {
		c.special = true
	}
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= utf8.RuneSelf:
			n, ok := printable(s, i)
			c.unprintable = c.unprintable || !ok
			i += n - 1
		case b == '\n':
			c.newline = true
		case b == '\t':
			c.tab = true
		case b < ' ' || b == 0x7f:
			c.unprintable = true
		case b == ':':
			c.special = c.special || i+1 < len(s) && isBlank(s[i+1])
		case b == '#':
			c.special = c.special || i > 0 && isBlank(s[i-1])
		case b == '"' || b == '\\':
			c.quotes = true
		}
	}
	// A tab is safe in a block of lines. In other styles, people don't see it.
	c.unprintable = c.unprintable || c.tab && !c.newline
	c.literal = c.newline && literalLines(s)
	return c
}

// literalLines reports whether all readers read s alike as a literal block. They differ
// about lines of white space, and about white space at the end. They also differ about a
// first line that begins with white space, because its block must declare its indentation.
func literalLines[T Text](s T) bool {
	if last := s[len(s)-1]; last == ' ' || last == '\t' {
		return false
	}
	some, blank, empty := false, true, true
	for i := range len(s) {
		switch s[i] {
		case '\n':
			if blank && !empty {
				return false
			}
			blank, empty = true, true
		case ' ', '\t':
			if !some {
				return false
			}
			empty = false
		default:
			some, blank, empty = true, false, false
		}
	}
	return some
}

// indicator reports whether the first characters of s have a meaning in YAML.
func indicator[T Text](s T) bool {
	switch s[0] {
	case '-', '?', ':':
		// "-" and "- x" begin a list item, and "---" begins a document. "-x" is text.
		return len(s) == 1 || isBlank(s[1]) || s[0] != '-' || hasDocumentMark(s, '-')
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return true
	case '.':
		return hasDocumentMark(s, '.')
	}
	return false
}

func hasDocumentMark[T Text](s T, c byte) bool {
	return len(s) >= 3 && s[0] == c && s[1] == c && s[2] == c && (len(s) == 3 || isBlank(s[3]))
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// printable returns the length of the rune at i. It also reports whether YAML allows the
// rune unescaped, and no reader takes it for a line break or a byte order mark.
func printable[T Text](s T, i int) (int, bool) {
	r, n := decodeRune(s, i)
	switch {
	case r == utf8.RuneError && n == 1, r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return n, false
	}
	return n, true
}

// decodeRune decodes the rune at i without allocating a string.
func decodeRune[T Text](s T, i int) (rune, int) {
	var b [utf8.UTFMax]byte
	n := 0
	for n < len(b) && i+n < len(s) {
		b[n] = s[i+n]
		n++
	}
	return utf8.DecodeRune(b[:n])
}

// Append writes s as the value of a key or list item that has an indentation of indent.
// The key or dash and a space precede it. It writes no final line feed.
func Append[T Text](dst []byte, s T, st Style, indent int) []byte {
	switch st {
	case Single:
		return appendSingle(dst, s)
	case Double:
		return appendDouble(dst, s)
	case Literal:
		return appendLiteral(dst, s, indent+2)
	}
	return append(dst, s...)
}

func appendSingle[T Text](dst []byte, s T) []byte {
	dst = append(dst, '\'')
	for i := range len(s) {
		if s[i] == '\'' {
			dst = append(dst, '\'')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '\'')
}

const hexDigits = "0123456789ABCDEF"

func appendDouble[T Text](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b == '\n':
			dst = append(dst, '\\', 'n')
		case b == '\t':
			dst = append(dst, '\\', 't')
		case b == '\r':
			dst = append(dst, '\\', 'r')
		case b < ' ' || b == 0x7f:
			dst = append(dst, '\\', 'x', hexDigits[b>>4], hexDigits[b&15])
		case b < utf8.RuneSelf:
			dst = append(dst, b)
		default:
			r, n := decodeRune(s, i)
			if _, ok := printable(s, i); ok {
				dst = utf8.AppendRune(dst, r)
			} else {
				dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			}
			i += n - 1
		}
	}
	return append(dst, '"')
}

// appendLiteral writes s as a literal block with this indentation. The caller writes the
// block's last line feed.
func appendLiteral[T Text](dst []byte, s T, indent int) []byte {
	dst = append(dst, '|')
	end := len(s)
	for end > 0 && s[end-1] == '\n' {
		end--
	}
	switch trailing := len(s) - end; {
	case trailing == 0:
		dst = append(dst, '-')
	case trailing > 1:
		dst = append(dst, '+')
	}
	for start := 0; start < end; {
		line := start
		for line < end && s[line] != '\n' {
			line++
		}
		dst = append(dst, '\n')
		if line > start {
			dst = AppendSpaces(dst, indent)
			dst = append(dst, s[start:line]...)
		}
		start = line + 1
	}
	for range len(s) - end - 1 {
		dst = append(dst, '\n')
	}
	return dst
}

const spaces = "                                                                "

// AppendSpaces appends n spaces to dst.
func AppendSpaces(dst []byte, n int) []byte {
	for n > len(spaces) {
		dst = append(dst, spaces...)
		n -= len(spaces)
	}
	return append(dst, spaces[:n]...)
}

// MaxKey limits the length of a written key, because readers refuse longer ones (YAML 1.2,
// 7.4.2: 1024 characters).
const MaxKey = 1000

// AppendKey writes a mapping's key on one line.
func AppendKey(dst []byte, key string) []byte {
	st := StyleOf(key)
	if st == Literal {
		st = Double
	}
	return Append(dst, key, st, 0)
}
