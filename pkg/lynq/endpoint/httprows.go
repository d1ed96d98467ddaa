package endpoint

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// HTTPRows says where rows are read over HTTP, and how the answers are made.
type HTTPRows struct {
	URL string
	// Auth is how the password is sent; it is not sent where Auth is empty.
	Auth HTTPAuth
	// Lines: each line of an answer is a row, whatever its content type.
	Lines bool
	// Items, Next and Total are fields of an answer that is an object: its rows, what leads
	// to the next page, and how many rows all pages have. A dot leads into an object. "" is
	// "items" for Items, "next" for Next, and no check for Total.
	Items, Next, Total string
	// NextParameter is the parameter of the URL that takes the value of Next; "" is that
	// the value is a URL.
	NextParameter string
	// Whole: the first answer has all rows.
	Whole bool
	// Once: pages aren't read a second time to see whether they changed meanwhile.
	Once bool
	// MaxBytes and Timeout bound a reading of all pages; 0 is the default.
	MaxBytes int64
	Timeout  time.Duration
}

// HTTPAuth is a way to send a password over HTTP.
type HTTPAuth string

// The ways.
const (
	BasicAuth  HTTPAuth = "basic"
	BearerAuth HTTPAuth = "bearer"
)

// Bounds on a reading over HTTP where a hub sets none.
const (
	DefaultHTTPBytes   = 256 << 20
	DefaultHTTPTimeout = 5 * time.Minute
)

// CheckHTTPURL says what is wrong with the URL of a source, and what to do; "" is nothing.
// Neither quotes the URL, which may hold a secret.
func CheckHTTPURL(raw string, tls TLSMode) (what, fix string) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "can't be parsed", "write https://HOST/PATH, special characters percent-encoded"
	case u.User != nil || strings.Contains(u.Host, "@"):
		return "has a user or a password, which anyone can read there", "remove it, and set username with passwordFrom or passwordRef, or tokenFrom or tokenRef"
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "is no URL of HTTP", "write https://HOST/PATH"
	case u.Scheme == "http" && tls == TLSVerifyFull:
		return "begins with http://, which tls: verify-full excludes", "write https://"
	case u.Scheme == "http" && tls != TLSDisable && !Loopback(u.Hostname()):
		return "begins with http://, so anyone on the way can read and change the rows", "write https://, or set tls: disable where the network is safe"
	case u.Scheme == "https" && tls == TLSDisable:
		return "begins with https://, and tls is disable", "remove tls: disable, or write http://"
	}
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		if SecretParameter(name) {
			return "has parameter " + phrase.Quote(name) + ", which looks like a secret that anyone can read there", "remove it, and set tokenFrom or tokenRef"
		}
	}
	return "", ""
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// SecretParameter reports whether the name of a URL's parameter says that it holds a secret.
func SecretParameter(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	if slices.Contains([]string{"key", "auth", "authorization", "sig", "pwd", "pass", "jwt", "sid"}, name) {
		return true
	}
	return regexp.MustCompile(`token|secret|passw|apikey|accesskey|signature|credential|session`).MatchString(name)
}

// ShownURL is a URL for messages: without user and fragment, and of its parameters only
// the names, with values that are short numbers.
func ShownURL(u *url.URL) string {
	text := u.Scheme + "://" + u.Host + u.EscapedPath()
	var parts []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		switch {
		case !found:
			name = redact.Hidden // a lone text may be anything
		case err != nil || SecretParameter(plain) || !regexp.MustCompile(`^[0-9]{1,9}$`).MatchString(value):
			name += "=" + redact.Hidden
		default:
			name += "=" + value
		}
		parts = append(parts, name)
	}
	if len(parts) > 0 {
		text += "?" + strings.Join(parts, "&")
	}
	return phrase.OneLine(text)
}

// Origin is a URL's scheme, host and port: what credentials are for.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), port)
}
