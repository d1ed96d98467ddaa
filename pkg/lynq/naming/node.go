package naming

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// maxLabel is the length limit of label values, and of the names that nodes
// get so that a label can hold them.
const maxLabel = 63

// hashDigits is the length of the hash at the end of a hashed name.
const hashDigits = 8

// NodeName is the name of the node that a row (by its uid) and a form make. No
// two of one uid and form have one name:
//
// The plain name, "<uid>-<form>", tells which is which as long as the form has
// no dash in its name: all behind the last dash is the form. With another form
// it does not, as "acme-eu-web" shows; the name is a made one then, whose hash
// is that of uid and form with a slash behind each. No form has a slash in its
// name, and no plain name ends with one.
func NodeName(uid, form string) string {
	if !Dashed(form) {
		return PlainNodeName(uid, form)
	}
	return HashedName(uid + "/" + form + "/")
}

// Dashed reports whether the name of a form has a dash: then its nodes do not have
// plain names, but for those that got theirs before there was a difference.
func Dashed(form string) bool { return strings.IndexByte(form, '-') >= 0 }

// PlainNodeName is "<uid>-<form>" where that is a DNS-1123 subdomain of at most
// 63 characters, else the hashed form of it (see HashedName). It is how the operator
// names nodes, whatever their form.
func PlainNodeName(uid, form string) string {
	raw := uid + "-" + form
	if len(raw) <= maxLabel && IsDNS1123Subdomain(raw) {
		return raw
	}
	return HashedName(raw)
}

// Named reports whether a node of this row and form can have a name. An inventory that was
// rebuilt without rows knows only the part of a hashed name before its hash, as its uid.
func Named(name, uid, form string) bool {
	if name == NodeName(uid, form) || name == PlainNodeName(uid, form) {
		return true
	}
	part, hashed := CutHash(name, form)
	return hashed && part == uid
}

// CutHash cuts the hash and the form off a hashed name. The result is the uid, or what the
// name still shows of it.
func CutHash(name, form string) (uid string, ok bool) {
	at := strings.LastIndexByte(name, '-')
	hash := name[at+1:]
	if at < 1 || len(hash) != hashDigits || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", false
	}
	uid = strings.TrimSuffix(name[:at], "-"+form)
	return cmp.Or(strings.Trim(uid, "-"), form), true
}

// UIDLabel is the value of label lynq.sh/uid for a row: the uid where a label
// can hold it, else its hashed form; then the raw uid belongs into the annotation
// of the same key.
func UIDLabel(uid string) (value string, raw bool) {
	if uid != "" && IsLabelValue(uid) {
		return uid, true
	}
	return HashedName(uid), false
}

// HashedName turns any text into a DNS-1123 name of at most 63 characters: lower
// case, other characters replaced by dashes, and the first 8 hex digits of the
// SHA-256 of the raw text behind it, which keep different texts different.
func HashedName(raw string) string {
	var name [maxLabel]byte
	n := 0
	for _, r := range raw {
		if n == maxLabel-1-hashDigits {
			break
		}
		if r = unicode.ToLower(r); r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			name[n] = byte(r) //nolint:gosec // it is a letter or digit of ASCII
		} else {
			name[n] = '-'
		}
		n++
	}
	sum := sha256.Sum256([]byte(raw))
	base := bytes.Trim(name[:n], "-")
	if len(base) > 0 {
		base = append(base, '-')
	}
	return string(hex.AppendEncode(base, sum[:hashDigits/2]))
}
