package bench_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lynqctl/lynqctl/test/bench/floor"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

var servers dbtest.Servers

// kindPostgres is a table in the benchmark's own PostgreSQL server.
const kindPostgres = "postgres"

// jobPostgresFloor is the floor for rows from PostgreSQL: DSN.
const jobPostgresFloor = "postgres-floor"

// BenchmarkScale measures what one machine can do: whole processes that render up to
// a million rows, a tree of 100 000 rows, and applies of 10 000 nodes.
func BenchmarkScale(b *testing.B) {
	p := build(b)
	b.Cleanup(func() {
		if err := servers.Stop(); err != nil {
			b.Error(err)
		}
	})
	for _, n := range []int{100_000, 1_000_000} {
		for _, kind := range []string{"csv", "sqlite", kindPostgres} {
			b.Run(fmt.Sprintf("render/%s-%d", kind, n), func(b *testing.B) { renderAtScale(b, p, kind, tenants(n)) })
		}
	}
	b.Run("tree/rows=100000", func(b *testing.B) { treeAtScale(b, p, 100_000) })
	l := &lab{tb: b, lynqctl: p.lynqctl, cluster: cluster.Cluster(b)}
	for _, nodes := range []int{2_000, 10_000} {
		b.Run(fmt.Sprintf("apply/nodes=%d", nodes), func(b *testing.B) { l.atScale(b, nodes) })
	}
}

// renderAtScale compares renders with the floor. Both read the rows from the same place.
func renderAtScale(b *testing.B, p programs, kind string, rows []floor.Row) {
	var source string
	var byFloor []string
	if kind == kindPostgres {
		source, byFloor = postgresRows(b, rows)
	} else {
		path := writeRows(b, kind, rows)
		source, byFloor = kind+":"+path, []string{p.floor, kind, path}
	}
	if kind == "sqlite" {
		source += "?table=tenants"
	}
	sameOutput(b, p.render(source), rows)
	compareProcesses(b, len(rows), []command{
		{name: nameFloor, args: byFloor},
		{name: "lynqctl-stream", args: p.render(source, "--stream")},
		{name: nameLynqctl, args: p.render(source)}, // last, because its temporary file keeps the disk busy for some time
	})
}

// postgresRows fills a table, and returns its addresses for lynqctl and the floor.
func postgresRows(b *testing.B, rows []floor.Row) (source string, byFloor []string) {
	b.Helper()
	server := servers.PostgreSQL(b)
	table := fmt.Sprintf("tenants_%d", len(rows))
	statements := []string{"DROP TABLE IF EXISTS " + table,
		"CREATE TABLE " + table + " (" + strings.Join(floor.Columns(), ` TEXT, `) + " TEXT, PRIMARY KEY (id))"}
	const batch = 5000
	for i := 0; i < len(rows); i += batch {
		var values strings.Builder
		for j, r := range rows[i:min(i+batch, len(rows))] {
			if j > 0 {
				values.WriteString(", ")
			}
			values.WriteString("('" + strings.Join(r[:], "', '") + "')")
		}
		statements = append(statements, "INSERT INTO "+table+" VALUES "+values.String())
	}
	server.Exec(b, append(statements, "ANALYZE "+table)...)
	at := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s", url.UserPassword(server.Reader, string(server.Password)), server.Port, server.Database)
	return at + "?table=" + table, asChild(jobPostgresFloor, at+"?sslmode=disable", table)
}

// postgresFloor does for PostgreSQL what floor.Run does for files.
func postgresFloor(dsn, table string, w io.Writer) error {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	out := bufio.NewWriterSize(w, 64<<10)
	read := conn.ExecParams(ctx, "SELECT "+strings.Join(floor.Columns(), ", ")+" FROM "+table+" ORDER BY id", nil, nil, nil, nil)
	var row floor.Row
	var node []byte
	for read.NextRow() {
		for i, v := range read.Values() {
			row[i] = string(v)
		}
		node = floor.Append(node[:0], &row)
		if _, err := out.Write(node); err != nil {
			return err
		}
	}
	if _, err := read.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// treeAtScale measures renders of a tree in which 100 rows changed.
func treeAtScale(b *testing.B, p programs, n int) {
	rows := tenants(n)
	before := "csv:" + writeRows(b, "csv", rows)
	for i := range 100 {
		rows[i*n/100][6] = "registry.example.com/app:v2"
	}
	after := "csv:" + writeRows(b, "csv", rows)
	dir := filepath.Join(b.TempDir(), "tree")
	measured := func(to *turns, source string, flags ...string) {
		u, err := metered(p.render(source, append(flags, "--output-dir", dir, "-o", "json")...))
		if err != nil {
			b.Fatal(err)
		}
		to.add(u)
	}
	var first, changed turns
	measured(&first, before)
	for b.Loop() {
		measured(&changed, after)
		before, after = after, before
	}
	changed.report(b)
	b.ReportMetric(milliseconds(middle(first.wall)), "first-ms")
	b.ReportMetric(float64(first.peak)/1024, "first-MiB")
}

// atScale measures a first apply of many nodes. Then it measures applies that change
// nothing, and applies that change one row in a hundred. It reports the sizes of the
// records, and the growth of etcd's file.
func (l *lab) atScale(b *testing.B, nodes int) {
	p := l.place(nodes)
	empty := p.storage(b)
	var first, lists, unchanged, changed samples
	first.measure(b, p.apply())
	grown := p.storage(b) - empty
	p.settle(b)
	other := idle(nodes)
	for i := range nodes / 100 {
		other[i*100][6] = "registry.example.com/app:v2"
	}
	rows := [2]string{writeRows(b, "csv", other), p.rows}
	unchanged.measure(b, p.apply()) // reads once what controllers wrote since
	unchanged = samples{}
	for b.Loop() {
		lists.measureApart(b, asChild(jobBareLists, p.kubeconfig, p.hub))
		unchanged.measureApart(b, p.apply())
	}
	for i := range b.N { // comes last, because controllers answer these runs with writes
		p.rows = rows[i%2]
		changed.measure(b, p.apply())
	}
	b.ReportMetric(0, "ns/op")
	first.report(b, "first")
	lists.report(b, "lists")
	unchanged.report(b, "unchanged")
	b.ReportMetric(unchanged.median()/lists.median(), "unchanged/lists")
	changed.report(b, "changed")
	b.ReportMetric(float64(grown)/float64(nodes), "etcd-B/node")
	for _, record := range []string{"node", "hub", "history"} {
		b.ReportMetric(p.recordSize(b, record), record+"-record-B")
	}
}

// storage returns the size of etcd's file in bytes.
func (p *place) storage(b *testing.B) int64 {
	b.Helper()
	for line := range strings.Lines(p.env.Kubectl(b, "", "get", "--raw", "/metrics")) {
		if !strings.HasPrefix(line, "apiserver_storage_size_bytes") {
			continue
		}
		fields := strings.Fields(line)
		size, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			b.Fatal(err)
		}
		return int64(size)
	}
	b.Fatal("the API server tells no apiserver_storage_size_bytes")
	return 0
}

// recordSize returns the mean size of the hub's records of a sort, as JSON.
func (p *place) recordSize(b *testing.B, sort string) float64 {
	b.Helper()
	list := p.env.Kubectl(b, "", "get", "configmaps", "-l", "lynq.sh/record="+sort, "-o", "json")
	var records struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(list), &records); err != nil || len(records.Items) == 0 {
		b.Fatalf("no record %q of the hub: %v", sort, err)
	}
	size := 0
	for _, item := range records.Items {
		var object any
		if err := json.Unmarshal(item, &object); err != nil {
			b.Fatal(err)
		}
		compact, err := json.Marshal(object)
		if err != nil {
			b.Fatal(err)
		}
		size += len(compact)
	}
	return float64(size) / float64(len(records.Items))
}
