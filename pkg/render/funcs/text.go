package funcs

import (
	"crypto/sha1" //nolint:gosec // sprig has a function sha1sum
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// cutting returns the functions that shorten or repeat texts. sprig's functions cut
// characters in two, or return the whole text for a length that they don't support.
func cutting(sprigs template.FuncMap) template.FuncMap {
	return template.FuncMap{
		"trunc":      whole2(sprigs["trunc"]),
		"substr":     substr,
		"abbrev":     abbreviate(sprigs["abbrev"]),
		"abbrevboth": abbreviateBoth(sprigs["abbrevboth"]),
		"wrap":       wrap(sprigs["wrap"]),
		"wrapWith":   wrapWith(sprigs["wrapWith"]),
		"repeat":     repeat,
		"indent":     indent,
		"nindent":    func(spaces int, s string) (string, error) { t, err := indent(spaces, s); return "\n" + t, err },
		"osBase":     path.Base,
		"osClean":    path.Clean,
		"osDir":      path.Dir,
		"osExt":      path.Ext,
		"osIsAbs":    path.IsAbs,

		"randAlpha":    random(sprigs["randAlpha"]),
		"randAlphaNum": random(sprigs["randAlphaNum"]),
		"randAscii":    random(sprigs["randAscii"]),
		"randNumeric":  random(sprigs["randNumeric"]),
		"randBytes":    randomBytes(sprigs["randBytes"]),
		"randInt":      randomInt(sprigs["randInt"]),
	}
}

// entire refuses a result that has half of a character of s.
func entire(s, result string) (string, error) {
	if !utf8.ValidString(result) && utf8.ValidString(s) {
		return "", &ValueError{value: s, What: "would be cut inside a character (trunc63 cuts between characters)"}
	}
	return result, nil
}

// whole2 returns a function of sprig that cuts no character in two.
func whole2(f any) func(n int, s string) (string, error) {
	call, _ := f.(func(int, string) string)
	return func(n int, s string) (string, error) { return entire(s, call(n, s)) }
}

// substr returns the bytes from start until before end. As in sprig, a negative start is
// 0, and a negative or large end is the text's.
func substr(start, end int, s string) (string, error) {
	start = max(start, 0)
	if end < 0 || end > len(s) {
		end = len(s)
	}
	if start > end {
		return "", &ValueError{What: fmt.Sprintf("a text of %d bytes has no part from %d to %d", len(s), start, end)}
	}
	return entire(s, s[start:end])
}

func abbreviate(f any) func(width int, s string) (string, error) {
	const least = 4
	call := whole2(f)
	return func(width int, s string) (string, error) {
		if width < least {
			return "", &ValueError{What: fmt.Sprintf("abbrev needs a width of at least %d, it gets %d", least, width)}
		}
		return call(width, s)
	}
}

func abbreviateBoth(f any) func(left, right int, s string) (string, error) {
	call, _ := f.(func(int, int, string) string)
	return func(left, right int, s string) (string, error) {
		const least, both = 4, 7
		if left < 0 || right < least || left > 0 && right < both {
			return "", &ValueError{What: fmt.Sprintf("abbrevboth needs a width of at least %d, and %d after an offset; it gets %d and %d", least, both, left, right)}
		}
		return entire(s, call(left, right, s))
	}
}

func wrap(f any) func(width int, s string) (string, error) {
	call := whole2(f)
	return func(width int, s string) (string, error) {
		if width < 1 {
			return "", notPositive("wrap", width)
		}
		return call(width, s)
	}
}

func wrapWith(f any) func(width int, separator, s string) (string, error) {
	call, _ := f.(func(int, string, string) string)
	return func(width int, separator, s string) (string, error) {
		if width < 1 {
			return "", notPositive("wrapWith", width)
		}
		return entire(s, call(width, separator, s))
	}
}

func notPositive(function string, n int) error {
	return &ValueError{What: fmt.Sprintf("%s takes a number of at least 1, it gets %d", function, n)}
}

func repeat(count int, s string) (string, error) {
	if count < 0 {
		return "", &ValueError{What: fmt.Sprintf("a text can't be repeated %d times", count)}
	}
	return strings.Repeat(s, count), nil
}

func indent(spaces int, s string) (string, error) {
	if spaces < 0 {
		return "", &ValueError{What: fmt.Sprintf("a text can't be indented by %d spaces", spaces)}
	}
	pad := strings.Repeat(" ", spaces)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// random returns a function of sprig that makes a random text. An empty one is no password.
func random(f any) func(length int) (string, error) {
	call, _ := f.(func(int) string)
	return func(length int) (string, error) {
		if length < 1 {
			return "", notPositive("a random text", length)
		}
		return call(length), nil
	}
}

func randomBytes(f any) func(length int) (string, error) {
	call, _ := f.(func(int) (string, error))
	return func(length int) (string, error) {
		if length < 1 {
			return "", notPositive("randBytes", length)
		}
		return call(length)
	}
}

func randomInt(f any) func(from, to int) (int, error) {
	call, _ := f.(func(int, int) int)
	return func(from, to int) (int, error) {
		if from >= to || to-from < 0 {
			return 0, &ValueError{What: fmt.Sprintf("no number is at least %d and below %d", from, to)}
		}
		return call(from, to), nil
	}
}

// ToHost returns the host of a URL, or of HOST:PORT, without its port. An empty text has
// an empty host.
func ToHost(s string) (string, error) {
	if host, ok := plainHost(s); ok {
		return host, nil
	}
	if _, err := netip.ParseAddr(s); err == nil || s == "" {
		return s, nil
	}
	address := s
	if !strings.Contains(s, "://") && !strings.HasPrefix(s, "//") {
		address = "//" + s
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", &ValueError{value: s, What: "has no host"}
	}
	return u.Hostname(), nil
}

// plainHost is a fast ToHost for common URLs such as https://host.example/path.
func plainHost(s string) (string, bool) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found || scheme == "" || scheme[0] < 'a' || scheme[0] > 'z' || strings.Contains(scheme, "/") {
		return "", false
	}
	for i := range len(s) {
		if c := s[i]; !scalar.IsAlnum(c) && c != '-' && c != '.' && c != '/' && (c != ':' || i != len(scheme)) {
			return "", false
		}
	}
	host, _, _ := strings.Cut(rest, "/")
	return host, host != ""
}

// trunc63 cuts a text to the 63 bytes of a label or DNS label, but never inside a
// character.
func trunc63(s string) string {
	const limit = 63
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func sha1sum(s string) string {
	sum := sha1.Sum([]byte(s)) //nolint:gosec // sprig has a function sha1sum
	return hex.EncodeToString(sum[:])
}
