package orphan

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseAge reads a Go duration that may also have days, such as 90m, 30d or 1d12h.
func ParseAge(s string) (time.Duration, error) {
	const day, mostDays = 24 * time.Hour, 100_000
	wrong := fmt.Errorf("%q is not an age (write 90m, 12h, 30d or 1d12h)", s)
	var age time.Duration
	rest := s
	if days, after, found := strings.Cut(s, "d"); found {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > mostDays {
			return 0, wrong
		}
		age, rest = time.Duration(n)*day, after
		if rest == "" {
			return age, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, wrong
	}
	return age + d, nil
}
