package monitoring

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scrape is an answer of one instance: series as texts, with their values.
type scrape struct {
	at       time.Duration // since the recording began
	instance string
	phase    string
	series   map[string]string
}

// recording holds the scrapes in the order of time.
type recording struct {
	began   time.Time // some series contain times
	scrapes []scrape
}

var recordedRun = filepath.Join("testdata", "run.txt")

const recordedHead = `# What lynqctl watch answered at /metrics, recorded by TestRecorded -update. A scrape names
# its time in seconds, the instance and the phase of the story, and has the series that
# differ from the instance's last one; "-" is before those that are gone.
`

// parseScrape parses the text format of Prometheus, without the comments.
func parseScrape(text []byte) (map[string]string, error) {
	series := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		if space < 0 {
			return nil, fmt.Errorf("%q is no series with its value", line)
		}
		series[line[:space]] = line[space+1:]
	}
	return series, nil
}

// format returns the file format of a recording.
func (r *recording) format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%sbegan %d\n", recordedHead, r.began.UnixMilli())
	last := map[string]map[string]string{}
	for _, s := range r.scrapes {
		fmt.Fprintf(&b, "\nscrape %.2f %s %s\n", s.at.Seconds(), s.instance, s.phase)
		before := last[s.instance]
		for _, name := range slices.Sorted(maps.Keys(s.series)) {
			if before[name] != s.series[name] {
				fmt.Fprintf(&b, "%s %s\n", name, s.series[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if _, there := s.series[name]; !there {
				fmt.Fprintf(&b, "-%s\n", name)
			}
		}
		last[s.instance] = s.series
	}
	return b.Bytes()
}

// readRun reads the recorded run.
func readRun(t testing.TB) *recording {
	t.Helper()
	text, err := os.ReadFile(recordedRun)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{}
	last := map[string]map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case words[0] == "began" && len(words) == 2:
			milliseconds, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				t.Fatalf("%s:%d: %v", recordedRun, i+1, err)
			}
			r.began = time.UnixMilli(milliseconds)
		case words[0] == "scrape" && len(words) == 4:
			at, err := time.ParseDuration(words[1] + "s")
			if err != nil {
				t.Fatalf("%s:%d: %v", recordedRun, i+1, err)
			}
			series := maps.Clone(last[words[2]])
			if series == nil {
				series = map[string]string{}
			}
			last[words[2]] = series
			r.scrapes = append(r.scrapes, scrape{at, words[2], words[3], series})
		default:
			s := r.scrapes[len(r.scrapes)-1]
			if name, gone := strings.CutPrefix(line, "-"); gone {
				delete(s.series, name)
			} else {
				space := strings.LastIndexByte(line, ' ')
				s.series[line[:space]] = line[space+1:]
			}
		}
	}
	if len(r.scrapes) == 0 {
		t.Fatalf("%s has no scrapes", recordedRun)
	}
	return r
}

// phase returns the start and end of a phase in the recording.
func (r *recording) phase(t testing.TB, name string) (from, till time.Duration) {
	t.Helper()
	from = -1
	for _, s := range r.scrapes {
		if s.phase == name {
			if from < 0 {
				from = s.at
			}
			till = s.at
		}
	}
	if from < 0 {
		t.Fatalf("%s has no phase %q", recordedRun, name)
	}
	return from, till
}

// TestFormat wants a written recording to be read unchanged.
func TestFormat(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(recordedRun)
	if err != nil {
		t.Fatal(err)
	}
	if got := readRun(t).format(); !bytes.Equal(got, text) {
		t.Errorf("%s is not as it would be written (%d bytes, %d would be)", recordedRun, len(text), len(got))
	}
}
