package kube_test

import (
	"bytes"
	"errors"
	"log"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/lynqctl/lynqctl/internal/kube"
)

// TestLogTo wants client-go's own log lines in the log for people.
func TestLogTo(t *testing.T) {
	var out bytes.Buffer
	kube.LogTo(&out)
	defer func() {
		klog.ClearLogger()
		log.SetOutput(os.Stderr)
	}()
	log.Print("net/http says so")
	runtime.HandleError(errors.New("a watch server ended the result"))
	klog.Warning("it is slow")
	klog.V(1).Info("not told")
	if got := out.String(); !strings.Contains(got, "a watch server ended the result") || !strings.Contains(got, "it is slow") || !strings.Contains(got, "net/http says so") || strings.Contains(got, "not told") {
		t.Errorf("%q", got)
	}
}
