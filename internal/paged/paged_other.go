//go:build !linux && !darwin

package paged

import (
	"errors"
	"os"
)

// works is not set, so all bytes stay in memory.
const works = false

func mapped(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
