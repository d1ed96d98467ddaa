package metrics

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	dto "github.com/prometheus/client_model/go"
)

// maxFile bounds what is read of an earlier file.
const maxFile = 64 << 20

// CheckFile tells why a file of metrics could not be written, before there is anything to
// be written.
func CheckFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file (name a file to write)", path)
	}
	probe, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return fmt.Errorf("no file can be made beside %s: %w (name a directory that exists and may be written)", path, cause(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// cause is an error without the name of the file that was tried.
func cause(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// WriteFile writes all series into a file as node_exporter's textfile collector reads
// it. The file is made beside it and renamed, so that there is always a whole one. When
// things last went well, and this time did not, is taken over from the file that is
// there; unread is why that could not be read, and the file is written even so.
func (m *Metrics) WriteFile(path string) (unread, err error) {
	unread = m.keep(path)
	if err := prometheus.WriteToTextfile(path, m.registry); err != nil {
		return unread, fmt.Errorf("write metrics to %s: %w", path, cause(err))
	}
	return unread, nil
}

// keep takes over from an earlier file when things last went well.
func (m *Metrics) keep(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the metrics of the last run: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(file, maxFile))
	if err != nil {
		return fmt.Errorf("read the metrics of the last run in %s: %w (it is written from this run alone, and when rows were last read well is not known)", path, err)
	}
	for name, g := range map[string]*prometheus.GaugeVec{readAtName: m.series.readAt, ranAtName: m.series.ranAt} {
		for _, s := range families[name].GetMetric() {
			keepLater(g, s)
		}
	}
	return nil
}

// keepLater sets a series unless it is later already.
func keepLater(g *prometheus.GaugeVec, s *dto.Metric) {
	of := prometheus.Labels{}
	for _, pair := range s.GetLabel() {
		of[pair.GetName()] = pair.GetValue()
	}
	known, err := g.GetMetricWith(of)
	if err != nil {
		return // it is of another version
	}
	var now dto.Metric
	if known.Write(&now) == nil && now.GetGauge().GetValue() < s.GetGauge().GetValue() {
		known.Set(s.GetGauge().GetValue())
	}
}
