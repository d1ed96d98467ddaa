package planfile

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Key makes digests that nobody can guess who doesn't have it. It comes from the uids of
// namespaces, which are random and never change. Whoever may not read the namespaces doesn't
// know them, and a File doesn't have them.
type Key struct{ secret []byte }

// NewKey makes the key of the namespaces with these uids, by name.
func NewKey(uids map[string]string) Key {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, "lynqctl plan")
	for _, name := range slices.Sorted(maps.Keys(uids)) {
		_, _ = fmt.Fprintf(h, "%s %s\n", name, uids[name])
	}
	return Key{h.Sum(nil)}
}

// digest is 32 hex digits, and differs for each purpose.
func (k Key) digest(purpose string, b []byte) string {
	h := hmac.New(sha256.New, k.secret)
	_, _ = fmt.Fprintf(h, "%s\n", purpose)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// of is the digest of a value that JSON has.
func (k Key) of(purpose string, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return k.digest(purpose, b), nil
}

// seal is the digest of a file without its id.
func (k Key) seal(f *File) (string, error) {
	bare := *f
	bare.ID = ""
	return k.of("file", bare)
}
