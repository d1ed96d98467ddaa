package tracking

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// An update makes all that it sets its manager's, and the creation of an object also the
// server's defaults. Which of these the form does not set is recorded by short hashes:
// whoever changes a default changes nothing of ours.

// LongestDefaults limits the length of Defaults, in characters.
const LongestDefaults = mostDefaults * shortHash

// shortHash is how many characters stand for a field, and mostDefaults how many fields
// are recorded.
const (
	shortHash    = 6
	mostDefaults = 64
)

// Defaults stands for fields, given by their paths; false where they are too many.
func Defaults(paths []string) (string, bool) {
	if len(paths) > mostDefaults {
		return "", false
	}
	short := make([]string, len(paths))
	for i, p := range paths {
		short[i] = shortOf(p)
	}
	slices.Sort(short)
	return strings.Join(slices.Compact(short), ""), true
}

func shortOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:shortHash/2])
}

// Own is a hash of the fields that lynq manages and of the seconds in which it last
// changed any of them, without the defaults; "" where that cannot be read.
func (l *Live) Own(defaults string) string {
	left := map[string]bool{}
	for i := 0; i+shortHash <= len(defaults); i += shortHash {
		left[defaults[i:i+shortHash]] = true
	}
	var text strings.Builder
	text.WriteString(l.Fields)
	for i := range l.Updates {
		u := &l.Updates[i]
		set := fieldpath.NewSet()
		if raw := u.Fields.GetRawReader(); raw.Size() > 0 && set.FromJSON(raw) != nil {
			return ""
		}
		var paths []string
		set.Iterate(func(p fieldpath.Path) {
			if path := p.String(); !left[shortOf(path)] {
				paths = append(paths, path)
			}
		})
		slices.Sort(paths)
		text.WriteString("\n" + u.Version + " " + u.At + "\n" + strings.Join(paths, "\n"))
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:8])
}

// Update holds the fields that lynq manages by updates and patches in one version of
// the API.
type Update struct {
	Version, At string
	Fields      *metav1.FieldsV1
}

func updateOf(e *metav1.ManagedFieldsEntry) Update {
	u := Update{Version: e.APIVersion, Fields: e.FieldsV1}
	if e.Time != nil {
		u.At = e.Time.UTC().Format(time.RFC3339)
	}
	return u
}
