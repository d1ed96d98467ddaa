package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text that is decoded from a part of another, with the places of its bytes.
type view struct {
	text string
	// from and to are where each byte was before it was decoded. They are nil for a text
	// that isn't decoded.
	from, to []int32
	cut      bool // the text around it was cut off at its end

	// A view of packed bits knows where they begin in another view, and how many bits each
	// character has.
	packed      *view
	start, bits int
}

// span returns where bytes of a view are in the text that isn't decoded.
func (v *view) span(from, to int) span {
	switch {
	case v.packed != nil:
		return v.packed.span(v.start+8*from/v.bits, v.start+(8*to-1)/v.bits+1)
	case v.from == nil:
		return span{from, to}
	}
	return span{int(v.from[from]), int(v.to[to-1])}
}

// decoder builds a view of a view.
type decoder struct {
	of   *view
	out  []byte
	view *view
}

func newDecoder(of *view) *decoder {
	n := len(of.text)
	return &decoder{of: of, out: make([]byte, 0, n), view: &view{from: make([]int32, 0, n), to: make([]int32, 0, n), cut: of.cut}}
}

// put adds bytes that were decoded from a part of the text.
func (d *decoder) put(bytes string, from, to int) {
	at := d.of.span(from, to)
	d.out = append(d.out, bytes...)
	for range len(bytes) {
		d.view.from = append(d.view.from, int32(at.from)) //nolint:gosec // no text has 2 GiB
		d.view.to = append(d.view.to, int32(at.to))       //nolint:gosec // no text has 2 GiB
	}
}

// decoded decodes each part that begins with one of some bytes. decode returns what a part
// means, and its length, 0 for no part. Without any part, the view is nil.
func decoded(v *view, marks string, decode func(text string) (meaning string, length int)) *view {
	var d *decoder
	done := 0
	for i := 0; i < len(v.text); {
		next := strings.IndexAny(v.text[i:], marks)
		if next < 0 {
			break
		}
		i += next
		meaning, n := decode(v.text[i:])
		if n == 0 {
			i++
			continue
		}
		if d == nil {
			d = newDecoder(v)
		}
		d.copy(done, i)
		d.put(meaning, i, i+n)
		i += n
		done = i
	}
	if d == nil {
		return nil
	}
	d.copy(done, len(v.text))
	d.view.text = string(d.out)
	return d.view
}

// copy adds bytes that mean themselves.
func (d *decoder) copy(from, to int) {
	for i := from; i < to; i++ {
		d.put(d.of.text[i:i+1], i, i+1)
	}
}

// unescaped decodes backslashes of JSON, YAML, Go, and shells.
func unescaped(v *view) *view { return decoded(v, `\`, escape) }

func escape(text string) (meaning string, length int) {
	if len(text) < 2 {
		return "", 0
	}
	if at := strings.IndexByte("abfnrtve0", text[1]); at >= 0 && (text[1] != '0' || len(text) < 4 || !octal(text[1:4])) {
		return "\a\b\f\n\r\t\v\x1b\x00"[at : at+1], 2
	}
	switch text[1] {
	case 'x':
		if n, ok := number(text, 2, 2, 16); ok {
			return string([]byte{byte(n)}), 4 //nolint:gosec // two digits
		}
	case 'u':
		return unicodeEscape(text)
	case 'U':
		if n, ok := number(text, 2, 8, 16); ok {
			return string(rune(n)), 10 //nolint:gosec // an invalid rune is no part of a value
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if n, ok := number(text, 1, 3, 8); ok {
			return string([]byte{byte(n)}), 4 //nolint:gosec // three octal digits
		}
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	return text[1 : 1+size], 1 + size
}

func octal(digits string) bool { return strings.Trim(digits, "01234567") == "" }

// unicodeEscape decodes \uXXXX, and two of them for a character of UTF-16.
func unicodeEscape(text string) (meaning string, length int) {
	high, ok := number(text, 2, 4, 16)
	if !ok {
		return text[1:2], 2
	}
	if utf16.IsSurrogate(rune(high)) && strings.HasPrefix(text[6:], `\u`) { //nolint:gosec // four digits
		if low, ok := number(text, 8, 4, 16); ok {
			return string(utf16.DecodeRune(rune(high), rune(low))), 12 //nolint:gosec // four digits
		}
	}
	return string(rune(high)), 6 //nolint:gosec // four digits
}

// number parses digits of a text.
func number(text string, from, digits, base int) (uint64, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:from+digits], base, 32)
	return n, err == nil
}

// unpercented decodes a URL.
func unpercented(v *view) *view { return decoded(v, "%", percent) }

// unplussed decodes a query of a URL, in which a plus is a blank.
func unplussed(v *view) *view {
	if !strings.Contains(v.text, "+") {
		return nil
	}
	return decoded(v, "%+", func(text string) (string, int) {
		if text[0] == '+' {
			return " ", 1
		}
		return percent(text)
	})
}

func percent(text string) (meaning string, length int) {
	if n, ok := number(text, 1, 2, 16); ok {
		return string([]byte{byte(n)}), 3 //nolint:gosec // two digits
	}
	return "", 0
}

// unentitied decodes HTML and XML.
func unentitied(v *view) *view {
	return decoded(v, "&", func(text string) (string, int) {
		const longest = 10
		end := strings.IndexByte(text[:min(len(text), longest)], ';')
		if end < 0 {
			return "", 0
		}
		meaning := html.UnescapeString(text[:end+1])
		if meaning == text[:end+1] {
			return "", 0
		}
		return meaning, end + 1
	})
}

// undoubled decodes quotes that SQL, CSV and YAML double.
func undoubled(v *view) *view {
	return decoded(v, `'"`, func(text string) (string, int) {
		if len(text) > 1 && text[1] == text[0] {
			return text[:1], 2
		}
		return "", 0
	})
}
