//go:build !linux && !darwin

package buffer

import (
	"errors"
	"os"
)

// pagesWork is not set, so all bytes stay in memory.
const pagesWork = false

func mapped(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
