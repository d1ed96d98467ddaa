package bench_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/bench/floor"
)

// usual renders the usual way. For each row, it copies unstructured objects and executes
// each string as a text/template. A YAML library writes the objects. To be fair, it parses
// templates once, skips strings without actions, and reuses the buffer.
type usual struct {
	resources []usualResource
	templates map[string]*template.Template
	funcs     template.FuncMap
	buffer    bytes.Buffer
}

type usualResource struct {
	ID             string         `json:"id"`
	NameTemplate   string         `json:"nameTemplate"`
	CreationPolicy string         `json:"creationPolicy"`
	DeletionPolicy string         `json:"deletionPolicy"`
	Spec           map[string]any `json:"spec"`
}

// newUsual reads the benchmark's form.
func newUsual() (*usual, error) {
	data, err := os.ReadFile(filepath.Join(inputs, "form.yaml"))
	if err != nil {
		return nil, err
	}
	var f struct {
		Spec struct {
			ConfigMaps             []usualResource `json:"configMaps"`
			PersistentVolumeClaims []usualResource `json:"persistentVolumeClaims"`
			Deployments            []usualResource `json:"deployments"`
			Services               []usualResource `json:"services"`
			Ingresses              []usualResource `json:"ingresses"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	u := &usual{templates: map[string]*template.Template{}, funcs: sprig.TxtFuncMap()}
	u.funcs["toHost"] = func(s string) (string, error) {
		parsed, err := url.Parse(s)
		if err != nil {
			return "", err
		}
		return parsed.Hostname(), nil
	}
	// The sections are in dependency order.
	for _, section := range [][]usualResource{f.Spec.ConfigMaps, f.Spec.PersistentVolumeClaims, f.Spec.Deployments, f.Spec.Services, f.Spec.Ingresses} {
		u.resources = append(u.resources, section...)
	}
	return u, nil
}

// row writes the objects of a row.
func (u *usual) row(r *floor.Row, w io.Writer) error {
	data := map[string]any{}
	for i, c := range floor.Columns() {
		data[c] = r[i]
	}
	data["uid"], data["activate"] = r[0], r[1]
	for i := range u.resources {
		object, err := u.object(&u.resources[i], data)
		if err != nil {
			return err
		}
		out, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, "---\n"); err != nil {
			return err
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

func (u *usual) object(r *usualResource, data map[string]any) (map[string]any, error) {
	object := runtime.DeepCopyJSON(r.Spec)
	if _, err := u.walk(object, data); err != nil {
		return nil, err
	}
	name, err := u.execute(r.NameTemplate, data)
	if err != nil {
		return nil, err
	}
	meta := within(object, "metadata")
	meta["name"], meta["namespace"] = name, "tenants"
	labels, annotations := within(meta, "labels"), within(meta, "annotations")
	labels[wellknown.LabelHub] = "crm"
	annotations[wellknown.AnnotationResourceID] = r.ID
	annotations[wellknown.AnnotationDeletionPolicy] = "Delete"
	if r.DeletionPolicy == "Retain" {
		annotations[wellknown.AnnotationDeletionPolicy] = "Retain"
		labels[wellknown.LabelNode] = fmt.Sprintf("%s-web", data["uid"])
		labels[wellknown.LabelNodeNamespace] = "tenants"
	}
	if r.CreationPolicy == "Once" {
		annotations[wellknown.AnnotationCreatedOnce] = "true"
	}
	return object, nil
}

// within returns the map at a key, and creates it if necessary.
func within(m map[string]any, key string) map[string]any {
	inner, ok := m[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[key] = inner
	}
	return inner
}

// walk executes all strings of a value, in place if possible.
func (u *usual) walk(v any, data map[string]any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if v[key], err = u.walk(inner, data); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, inner := range v {
			if v[i], err = u.walk(inner, data); err != nil {
				return nil, err
			}
		}
	case string:
		s, err := u.execute(v, data)
		if err == nil && strings.HasSuffix(v, "| int }}") {
			return strconv.ParseInt(s, 10, 64)
		}
		return s, err
	}
	return v, nil
}

func (u *usual) execute(text string, data map[string]any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t, ok := u.templates[text]
	if !ok {
		var err error
		if t, err = template.New("").Option("missingkey=error").Funcs(u.funcs).Parse(text); err != nil {
			return "", err
		}
		u.templates[text] = t
	}
	u.buffer.Reset()
	err := t.Execute(&u.buffer, data)
	return u.buffer.String(), err
}

// usualFile renders a file of rows the usual way.
func usualFile(kind, path string, w io.Writer) error {
	u, err := newUsual()
	if err != nil {
		return err
	}
	read := map[string]func(string) ([]floor.Row, error){"csv": readCSV, "sqlite": readSQLite}[kind]
	rows, err := read(path)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := u.row(&rows[i], w); err != nil {
			return err
		}
	}
	return nil
}

func readCSV(path string) ([]floor.Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(f).ReadAll()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var rows []floor.Row
	for _, r := range records[1:] {
		rows = append(rows, floor.Row(r))
	}
	return rows, nil
}

func readSQLite(path string) ([]floor.Row, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	result, err := db.Query("SELECT " + strings.Join(floor.Columns(), ", ") + " FROM tenants ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer func() { _ = result.Close() }()
	var rows []floor.Row
	for result.Next() {
		var r floor.Row
		into := make([]any, len(r))
		for i := range r {
			into[i] = &r[i]
		}
		if err := result.Scan(into...); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, result.Err()
}
