package funcs

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// longestSlug leaves room for more words in a label of 63 bytes.
const longestSlug = 40

// Slug returns a text as a part of a name in Kubernetes: lower case, accents removed, and a
// dash for each run of other characters. A longer slug is cut, and ends with a hash of the
// text, so that two texts don't get one name. Letters without an ASCII form are an error,
// because names without them would be equal.
func Slug(s string) (string, error) {
	var b strings.Builder
	plain := strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ı", "i")
	for _, r := range plain.Replace(strings.ToLower(norm.NFKD.String(strings.ToLower(s)))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == unicode.ReplacementChar:
			return "", &ValueError{value: s, What: "has a character that names in Kubernetes can't have (map a column with a short name)"}
		case unicode.IsMark(r):
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.TrimSuffix(b.String(), "-")
	if name == "" {
		return "", notA(s, "a name: it has no letter and no digit")
	}
	if len(name) > longestSlug {
		const digits = 8
		sum := sha256.Sum256([]byte(s))
		name = strings.TrimSuffix(name[:longestSlug-digits-1], "-") + "-" + hex.EncodeToString(sum[:])[:digits]
	}
	return name, nil
}
