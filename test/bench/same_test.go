package bench_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/test/bench/floor"
)

// sameRows is enough rows for several batches, and for every mix of values.
const sameRows = 1_000

// floorBytes returns the floor's output for rows.
func floorBytes(rows []floor.Row) []byte {
	var out []byte
	for i := range rows {
		out = floor.Append(out, &rows[i])
	}
	return out
}

// kept is a sink that keeps all bytes.
type kept struct{ bytes.Buffer }

func (k *kept) Add(node []byte) error {
	_, err := k.Write(node)
	return err
}

func TestFloorAndLynqctlWriteTheSameBytes(t *testing.T) {
	rows := tenants(sameRows)
	want := floorBytes(rows)
	p := mustCompile(t)
	for _, workers := range []int{1, 4} {
		var got kept
		if err := renderRows(p, rowsFor(p, rows), render.Settings{Workers: workers}, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Fatalf("%d workers (-floor +lynqctl):\n%s", workers, diff)
		}
	}
}

func TestRunsFromFilesWriteTheSameBytes(t *testing.T) {
	rows := tenants(sameRows)
	want := string(floorBytes(rows))
	for _, kind := range []string{"csv", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			path := writeRows(t, kind, rows)
			var ours, floors bytes.Buffer
			if err := renderFile(kind, path, &ours); err != nil {
				t.Fatal(err)
			}
			if err := floor.Run(kind, path, &floors); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, ours.String()); diff != "" {
				t.Errorf("-want +lynqctl:\n%s", diff)
			}
			if diff := cmp.Diff(want, floors.String()); diff != "" {
				t.Errorf("-want +floor:\n%s", diff)
			}
		})
	}
}

func TestTheUsualWayYieldsTheSameObjects(t *testing.T) {
	rows := tenants(100)
	want := objects(t, floorBytes(rows))
	if len(want) != 5*len(rows) {
		t.Fatalf("%d objects of %d rows", len(want), len(rows))
	}
	for _, kind := range []string{"csv", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			var got bytes.Buffer
			if err := usualFile(kind, writeRows(t, kind, rows), &got); err != nil {
				t.Fatal(err)
			}
			all := objects(t, got.Bytes())
			if len(all) != len(want) {
				t.Fatalf("%d objects, want %d", len(all), len(want))
			}
			for i := range all {
				if diff := cmp.Diff(want[i], all[i]); diff != "" {
					t.Fatalf("object %d (-want +usual):\n%s", i, diff)
				}
			}
		})
	}
}

// objects decodes a stream of YAML documents.
func objects(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, document := range bytes.Split(stream, []byte("---\n"))[1:] {
		var o map[string]any
		if err := yaml.UnmarshalStrict(document, &o); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		all = append(all, o)
	}
	return all
}
