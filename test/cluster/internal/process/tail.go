package process

import (
	"bytes"
	"io"
	"os"
)

const (
	// tailLines is the number of log lines in an error.
	tailLines = 20
	// tailBytes is the number of bytes that tail reads for them.
	tailBytes = 64 << 10
)

// tail returns the last lines of a file, at most n.
func tail(path string, n int) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	start := max(0, info.Size()-tailBytes)
	data, err := io.ReadAll(io.NewSectionReader(f, start, tailBytes))
	if err != nil {
		return "", err
	}
	return lastLines(data, n), nil
}

// lastLines returns the last n lines of data, without the final line end.
func lastLines(data []byte, n int) string {
	lines := bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}
