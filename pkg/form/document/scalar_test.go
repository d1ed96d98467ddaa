package document

import (
	"strings"
	"testing"
)

// TestMaybeTyped wants the YAML library to read each short text as a text, if maybeTyped calls it
// certain.
func TestMaybeTyped(t *testing.T) {
	const letters, alphabet = "019aebxXofFmgiInNyY", "019aebxXofFmgiInNyY._+-"
	certain := 0
	var try func(text string, more int)
	try = func(text string, more int) {
		if strings.ContainsAny(text, letters) && !maybeTyped(text) { // others may be marks of YAML
			certain++
			if v, err := resolve(text, text); err != nil || v.Kind != String || v.Str != text {
				t.Errorf("%q is %v, %v", text, v, err)
			}
			if key, err := plainKey(text); err != nil || key != text {
				t.Errorf("the key %q is %q, %v", text, key, err)
			}
		}
		for i := range len(alphabet) {
			if more > 0 {
				try(text+alphabet[i:i+1], more-1)
			}
		}
	}
	try("", 3)
	for _, text := range []string{"100m", "128Mi", "1Gi", "true1", "null1", "nulls", "yesno", "noon", "1e5m", "name", "type", "0x1g"} {
		try(text, 0)
	}
	if certain < 1000 {
		t.Errorf("only %d texts are certain", certain)
	}
}
