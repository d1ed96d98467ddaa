package naming

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// maxLabel limits the length of label values, and so of nodes' names, which labels hold.
const maxLabel = 63

// hashDigits is the length of the hash at the end of a hashed name.
const hashDigits = 8

// NodeName returns the name of the node of a row, by its uid, and a form. Different uids or forms
// have different names.
//
// The plain name is "<uid>-<form>". If the form's name has no dash, the text after the last dash
// is the form. Otherwise "acme-eu-web" could have two meanings. Then the name has a hash of the
// uid and the form with a slash after each. No form has a slash in its name, and no plain name
// ends with one.
func NodeName(uid, form string) string {
	if !Dashed(form) {
		return PlainNodeName(uid, form)
	}
	return HashedName(uid + "/" + form + "/")
}

// Dashed reports whether the name of a form has a dash. Its nodes have no plain names,
// except for those from earlier versions of lynqctl.
func Dashed(form string) bool { return strings.IndexByte(form, '-') >= 0 }

// PlainNodeName returns "<uid>-<form>" if that is a DNS-1123 subdomain of at most 63 characters,
// and otherwise its hashed form (see HashedName). The operator gives all nodes such names.
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

// UIDLabel returns the value of label lynq.sh/uid for a row. It is the uid if a label can hold it,
// and otherwise its hashed form. Then the annotation of the same key has the uid.
func UIDLabel(uid string) (value string, raw bool) {
	if uid != "" && IsLabelValue(uid) {
		return uid, true
	}
	return HashedName(uid), false
}

// HashedName turns any text into a DNS-1123 name of at most 63 characters. The name is in lower
// case with dashes for other characters. The first 8 hexadecimal digits of the SHA-256 of the text
// follow, so that different texts have different names.
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
