package lynq

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Count is a number with its noun: "1 node", "2 nodes", "2 inventories".
func Count[N ~int | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if y, ends := strings.CutSuffix(noun, "y"); ends {
		noun = y + "ie"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun + "s"
}

// JSON is compact JSON that people can read: <, > and & are themselves.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
