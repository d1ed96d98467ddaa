package funcs

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base32"
	"encoding/base64"
	"regexp"
	"strings"
	"text/template"
	"unicode/utf8"
)

// encodings returns the functions that decode, decrypt and search texts. sprig's functions
// write their errors into the result, or return "" or false.
func encodings(sprigs template.FuncMap) template.FuncMap {
	return template.FuncMap{
		"b64dec":         decodeBase64,
		"b32dec":         decodeBase32,
		"decryptAES":     decryptAES,
		"bcrypt":         failing1(sprigs["bcrypt"], "failed to encrypt"),
		"htpasswd":       htpasswd(sprigs),
		"derivePassword": derivePassword(sprigs["derivePassword"]),
		"genPrivateKey":  failing1(sprigs["genPrivateKey"], "Unknown type", "failed to generate"),

		"regexMatch":                 search((*regexp.Regexp).MatchString),
		"mustRegexMatch":             search((*regexp.Regexp).MatchString),
		"regexFind":                  search((*regexp.Regexp).FindString),
		"mustRegexFind":              search((*regexp.Regexp).FindString),
		"regexFindAll":               search2((*regexp.Regexp).FindAllString),
		"mustRegexFindAll":           search2((*regexp.Regexp).FindAllString),
		"regexSplit":                 search2((*regexp.Regexp).Split),
		"mustRegexSplit":             search2((*regexp.Regexp).Split),
		"regexReplaceAll":            search2((*regexp.Regexp).ReplaceAllString),
		"mustRegexReplaceAll":        search2((*regexp.Regexp).ReplaceAllString),
		"regexReplaceAllLiteral":     search2((*regexp.Regexp).ReplaceAllLiteralString),
		"mustRegexReplaceAllLiteral": search2((*regexp.Regexp).ReplaceAllLiteralString),
	}
}

func decodeBase64(s string) (string, error) {
	decoded, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return "", &ValueError{value: s, What: "is not base64"}
	}
	return string(decoded), nil
}

func decodeBase32(s string) (string, error) {
	decoded, err := base32.StdEncoding.DecodeString(s)
	if err != nil || base32.StdEncoding.EncodeToString(decoded) != strings.NewReplacer("\r", "", "\n", "").Replace(s) {
		return "", &ValueError{value: s, What: "is not base32"}
	}
	return string(decoded), nil
}

// decryptAES decrypts the result of sprig's encryptAES. A wrong password is an error, as
// far as the padding and the characters show it.
func decryptAES(password, encrypted string) (string, error) {
	failed := &ValueError{What: "it can't be decrypted: the text or the password is wrong"}
	crypt, err := base64.StdEncoding.DecodeString(encrypted)
	if err != nil || len(crypt) < 2*aes.BlockSize || len(crypt)%aes.BlockSize != 0 {
		return "", failed
	}
	key := make([]byte, 32) // as sprig makes a key of a password
	copy(key, password)
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	plain := make([]byte, len(crypt)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, crypt[:aes.BlockSize]).CryptBlocks(plain, crypt[aes.BlockSize:])
	padding := plain[len(plain)-1]
	if padding == 0 || padding > aes.BlockSize {
		return "", failed
	}
	text := plain[:len(plain)-int(padding)]
	if !bytes.Equal(plain[len(text):], bytes.Repeat([]byte{padding}, int(padding))) || !utf8.Valid(text) {
		return "", failed
	}
	return string(text), nil
}

// failing1 returns a function of sprig with one text, and reads errors from its result.
func failing1(f any, failures ...string) func(string) (string, error) {
	call, _ := f.(func(string) string)
	return func(s string) (string, error) { return withoutFailure(call(s), failures...) }
}

// withoutFailure returns a result of sprig, or the error that it says.
func withoutFailure(result string, failures ...string) (string, error) {
	for _, failure := range failures {
		if strings.HasPrefix(result, failure) {
			return "", &ValueError{value: result, What: "is all that the function returns"}
		}
	}
	return result, nil
}

func htpasswd(sprigs template.FuncMap) func(user, password string) (string, error) {
	encrypt := failing1(sprigs["bcrypt"], "failed to encrypt")
	return func(user, password string) (string, error) {
		if user == "" || strings.ContainsAny(user, ":\r\n") {
			return "", &ValueError{value: user, What: "is not a user name for htpasswd (it has no colon and no line break)"}
		}
		hash, err := encrypt(password)
		return user + ":" + hash, err
	}
}

type derives = func(counter uint32, kind, password, user, site string) string

// derivePassword returns sprig's function without passwords that are its own errors.
func derivePassword(f any) func(counter uint32, kind, password, user, site string) (string, error) {
	call, _ := f.(derives)
	return func(counter uint32, kind, password, user, site string) (string, error) {
		switch kind {
		case "maximum", "long", "medium", "short", "basic", "pin":
			return withoutFailure(call(counter, kind, password, user, site), "failed to derive")
		}
		return "", notA(kind, "a type of password (maximum, long, medium, short, basic, pin)")
	}
}

// Pattern compiles a regular expression.
func Pattern(s string) (*regexp.Regexp, error) {
	r, err := regexp.Compile(s)
	if err != nil {
		return nil, notA(s, "a regular expression")
	}
	return r, nil
}

// search returns a function of a regular expression and a text.
func search[R any](find func(*regexp.Regexp, string) R) func(pattern, s string) (R, error) {
	return func(pattern, s string) (R, error) {
		r, err := Pattern(pattern)
		if err != nil {
			var none R
			return none, err
		}
		return find(r, s), nil
	}
}

// search2 returns a function of a regular expression, a text and another argument.
func search2[A, R any](find func(*regexp.Regexp, string, A) R) func(pattern, s string, a A) (R, error) {
	return func(pattern, s string, a A) (R, error) {
		return search(func(r *regexp.Regexp, s string) R { return find(r, s, a) })(pattern, s)
	}
}
