package source

import (
	"bytes"
	"io"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These are the fixes for rows that are too long.
const (
	fixLongRow  = "store large values elsewhere"
	fixLongText = "look for a quote or bracket that is not closed"
)

// atOffset names the line at an offset. It reads the file up to there.
func (d *dataFile) atOffset(offset int64) string {
	line := 1
	before := io.NewSectionReader(d, 0, offset)
	buffer := make([]byte, 64<<10)
	for {
		n, err := before.Read(buffer)
		line += bytes.Count(buffer[:n], []byte("\n"))
		if err != nil {
			return lynq.Pos{File: d.name, Line: line}.String()
		}
	}
}
