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

// maxFile limits the size of an earlier file.
const maxFile = 64 << 20

// CheckFile returns an error if nobody can write a file of metrics, before a run begins.
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

// cause returns an error without the name of the temporary file.
func cause(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// WriteFile writes all series into a file for node_exporter's textfile collector. It writes a
// file beside it and renames that, so readers always see a whole file. The times of earlier
// successes come from the file of the last run. unread says why that can't be read. WriteFile
// writes the file in any case.
func (m *Metrics) WriteFile(path string) (unread, err error) {
	unread = m.keep(path)
	if err := prometheus.WriteToTextfile(path, m.registry); err != nil {
		return unread, fmt.Errorf("write metrics to %s: %w", path, cause(err))
	}
	return unread, nil
}

// keep takes the times of earlier successes from an earlier file.
func (m *Metrics) keep(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the metrics of the last run: %w", err)
	}
	defer func() { _ = file.Close() }() // nobody wrote to it
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

// keepLater sets a series to a time unless it has a later one.
func keepLater(g *prometheus.GaugeVec, s *dto.Metric) {
	of := prometheus.Labels{}
	for _, pair := range s.GetLabel() {
		of[pair.GetName()] = pair.GetValue()
	}
	known, err := g.GetMetricWith(of)
	if err != nil {
		return // another version wrote it
	}
	var now dto.Metric
	if known.Write(&now) == nil && now.GetGauge().GetValue() < s.GetGauge().GetValue() {
		known.Set(s.GetGauge().GetValue())
	}
}
