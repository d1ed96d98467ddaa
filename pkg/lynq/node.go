package lynq

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxLabel is the length limit of label values, and of the names that nodes
// get so that a label can hold them.
const maxLabel = 63

// NodeName is the name of the node that a row (by its uid) and a form make:
// "<uid>-<form>" where that is a DNS-1123 subdomain of at most 63 characters,
// else the made form of it (see Made).
func NodeName(uid, form string) string {
	raw := uid + "-" + form
	if len(raw) <= maxLabel && IsDNS1123Subdomain(raw) {
		return raw
	}
	return Made(raw)
}

// UIDLabel is the value of label lynq.sh/uid for a row: the uid where a label
// can hold it, else its made form; then the raw uid belongs into the annotation
// of the same key.
func UIDLabel(uid string) (value string, raw bool) {
	if uid != "" && IsLabelValue(uid) {
		return uid, true
	}
	return Made(uid), false
}

// Made turns any text into a DNS-1123 name of at most 63 characters: lower
// case, other characters replaced by dashes, and the first 8 hex digits of the
// SHA-256 of the raw text behind it, which keep different texts different.
func Made(raw string) string {
	const suffix = 1 + 8
	var b strings.Builder
	for _, r := range strings.ToLower(raw) {
		if b.Len() == maxLabel-suffix {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	sum := sha256.Sum256([]byte(raw))
	hash := hex.EncodeToString(sum[:4])
	base := strings.Trim(b.String(), "-")
	if base == "" {
		return hash
	}
	return base + "-" + hash
}
