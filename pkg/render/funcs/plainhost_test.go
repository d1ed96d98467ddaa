package funcs

import (
	"net/url"
	"testing"
)

// FuzzPlainHost compares the fast ToHost with the general one.
func FuzzPlainHost(f *testing.F) {
	for _, s := range []string{"https://a.example", "http://a/b", "a://", "1://a", "x-y://h/", "https://a:1/", "://a", "a.b://c", "A://b", "https:///x", "a/b://c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, ok := plainHost(s)
		if u, err := url.Parse(s); ok && (err != nil || u.Hostname() != host) {
			t.Errorf("plainHost(%q) = %q, the URL is %v, %v", s, host, u, err)
		}
	})
}
