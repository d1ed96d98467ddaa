package ready

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Noted is one version of an object.
type Noted struct {
	lynq.Ref
	UID     types.UID
	Version string
}

// Notes say which versions of objects were ready in the last run, so that the next run needn't
// read unchanged objects. The zero value knows no objects.
//
// Anybody who may change a hub record can forge a note. So it only saves reads for the run's
// report, and a forged one only hides that an object isn't ready. It never makes lynqctl
// write, delete or wait for an object.
type Notes struct {
	rules   string
	classes string
	digests []uint64 // one for each bucket of objects, and 0 if an object in it wasn't ready
}

const (
	// perBucket is the number of objects that share a digest. lynqctl reads all of them if
	// one changed.
	perBucket = 32
	// mostBuckets limits a note to 16 KB.
	mostBuckets = 2048
	digestBytes = 6
)

// ParseNotes reads a note. It returns empty Notes for a note with other rules of readiness,
// and for any other text.
func ParseNotes(text, rules string) *Notes {
	parts := strings.Split(text, " ")
	if len(parts) != 3 || parts[0] != ShortDigest(rules) {
		return &Notes{}
	}
	raw, err := base64.RawStdEncoding.DecodeString(parts[2])
	n := len(raw) / digestBytes
	if err != nil || len(raw)%digestBytes != 0 || n == 0 || n > mostBuckets || bits.OnesCount(uint(n)) != 1 {
		return &Notes{}
	}
	notes := &Notes{rules: rules, classes: strings.TrimPrefix(parts[1], "-"), digests: make([]uint64, n)}
	for i := range notes.digests {
		var wide [8]byte
		copy(wide[8-digestBytes:], raw[i*digestBytes:])
		notes.digests[i] = binary.BigEndian.Uint64(wide[:])
	}
	return notes
}

// Classes returns a digest of the storage classes that made claims ready, or "" if no claim
// depends on them.
func (n *Notes) Classes() string { return n.classes }

// Unsure returns the objects that may not be ready. These are all objects of a bucket in
// which one changed since all were ready. classes is a digest of the current storage
// classes, "" if they aren't known.
func (n *Notes) Unsure(objects []Noted, classes string) map[lynq.Ref]bool {
	unsure := map[lynq.Ref]bool{}
	now, buckets := make([]uint64, len(n.digests)), make([]int, len(objects))
	for i := range objects {
		if len(now) > 0 {
			buckets[i] = bucket(&objects[i], len(now))
			now[buckets[i]] ^= digest(&objects[i], n.rules, classes)
		}
	}
	for i, b := range buckets {
		if len(now) == 0 || n.digests[b] == 0 || n.digests[b] != now[b] {
			unsure[objects[i].Ref] = true
		}
	}
	return unsure
}

// EncodeNotes returns a note of the ready objects. Objects that may not be ready have no
// version.
func EncodeNotes(objects []Noted, rules, classes string) string {
	n := 1
	for n < mostBuckets && n*perBucket < len(objects) {
		n *= 2
	}
	digests, spoilt := make([]uint64, n), make([]bool, n)
	for i := range objects {
		b := bucket(&objects[i], n)
		digests[b] ^= digest(&objects[i], rules, classes)
		spoilt[b] = spoilt[b] || objects[i].Version == "" || objects[i].UID == ""
	}
	raw := make([]byte, 0, n*digestBytes)
	for i, d := range digests {
		if spoilt[i] {
			d = 0
		}
		raw = append(raw, binary.BigEndian.AppendUint64(nil, d)[8-digestBytes:]...)
	}
	return fmt.Sprintf("%s -%s %s", ShortDigest(rules), classes, base64.RawStdEncoding.EncodeToString(raw))
}

// longText is longer than nearly all texts to hash. Hashing these allocates nothing.
const longText = 512

// appendRef appends the object's reference without its group, and a zero byte.
func (o *Noted) appendRef(b []byte) []byte {
	for _, s := range []string{o.Kind, o.Namespace, o.Name} {
		b = append(append(b, s...), '/')
	}
	return append(b, 0)
}

// bucket returns the bucket of an object. It doesn't depend on the version.
func bucket(o *Noted, of int) int {
	var buffer [longText]byte
	sum := sha256.Sum256(append(o.appendRef(buffer[:0]), o.Group...))
	return int(binary.BigEndian.Uint32(sum[:4]) & uint32(of-1)) //nolint:gosec // a power of two, up to mostBuckets
}

// digest returns the digest of one version of an object. Whether a claim is ready may
// depend on its storage class.
func digest(o *Noted, rules, classes string) uint64 {
	if o.Kind != "PersistentVolumeClaim" || o.Group != "" {
		classes = ""
	}
	var buffer [longText]byte
	text := buffer[:0]
	for _, s := range []string{rules, classes, o.Group} {
		text = append(append(text, s...), 0)
	}
	text = append(append(append(o.appendRef(text), o.UID...), 0), o.Version...)
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:8]) >> (64 - 8*digestBytes)
}

// ShortDigest returns a name of 16 characters for a text of any length.
func ShortDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
