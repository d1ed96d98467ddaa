package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// withRegistry serves the chart in a directory of that name, and sets $CHART to its address. Without a
// directory, it stops the registry.
func withRegistry(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) <= 1, "registry [DIR]")
	if len(args) == 0 {
		scriptOf(ts).registry.Close()
		return
	}
	blobs := map[string][]byte{}
	push := func(data []byte) string {
		sum := sha256.Sum256(data)
		digest := "sha256:" + hex.EncodeToString(sum[:])
		blobs[digest] = data
		return digest
	}
	archive := packedChart(ts, args[0])
	digest := push(fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.cncf.helm.config.v1+json"},`+
		`"layers":[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":%q,"size":%d}]}`, push(archive), len(archive)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := blobs[path.Base(r.URL.Path)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	ts.Defer(s.Close)
	ts.Setenv("CHART", "oci://"+strings.TrimPrefix(s.URL, "http://")+"/acme/app:1.0.0@"+digest)
	scriptOf(ts).registry = s
}

// packedChart returns the archive of a chart.
func packedChart(ts *testscript.TestScript, dir string) []byte {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	ts.Check(w.AddFS(os.DirFS(ts.MkAbs(dir))))
	ts.Check(w.Close())
	ts.Check(zipped.Close())
	return b.Bytes()
}
