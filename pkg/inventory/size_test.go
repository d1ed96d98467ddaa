package inventory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// many returns an inventory with n objects.
func many(n int, make func(i int) inventory.Entry) *inventory.Inventory {
	inv := acme()
	inv.Entries = nil
	for i := range n {
		inv.Entries = append(inv.Entries, make(i))
	}
	return inv
}

func written(i int) inventory.Entry {
	return entry("apps", "v1", "Deployment", "shop", fmt.Sprintf("acme-web-%06d", i), fmt.Sprintf("web-%06d", i))
}

func intended(i int) inventory.Entry {
	r := written(i)
	r.UID, r.Digest, r.Template, r.Generation, r.ResourceVersion, r.Fields, r.Ready = "", "", "", 0, "", "", false
	return r
}

// largest finds the largest number of objects that fits.
func largest(t *testing.T, make func(int) inventory.Entry) int {
	t.Helper()
	low, high := 1, 1<<16
	for low+1 < high {
		middle := (low + high) / 2
		_, err := inventory.Encode(many(middle, make))
		var large *inventory.TooLargeError
		switch {
		case err == nil:
			low = middle
		case errors.As(err, &large):
			high = middle
		default:
			t.Fatal(err)
		}
	}
	return low
}

// TestSizeOfIntent checks that an inventory that fits as an intent also fits after the
// writes, with a long status.
func TestSizeOfIntent(t *testing.T) {
	n := largest(t, intended)
	inv := many(n, written)
	conditions := []inventory.Condition{{Type: "A"}, {Type: "B"}, {Type: "C"}}
	for i := range conditions {
		conditions[i].Message = strings.Repeat("x", 1<<20)
	}
	inv.Status = inventory.Status{Conditions: conditions}.At(inventory.Status{}, noon)
	if _, err := inventory.Encode(inv); err != nil {
		t.Errorf("%d objects: %v", n, err)
	}
	if n < 2000 {
		t.Errorf("only %d objects can be recorded", n)
	}
}

func TestTooLarge(t *testing.T) {
	_, err := inventory.Encode(many(5000, written))
	var large *inventory.TooLargeError
	if !errors.As(err, &large) {
		t.Fatalf("got %v", err)
	}
	if large.Node.Namespace != "shop" || large.Node.Name != "acme-web" || large.Objects != 5000 || large.Limit != 1<<20 || large.Size <= large.Limit {
		t.Errorf("got %+v", large)
	}
	for _, want := range []string{"node shop/acme-web", "its 5000 objects take", "limit is 1024 KiB", "Split the form"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %s", want, err)
			}
		})
	}
	inv := acme()
	inv.Others = &inventory.Others{BinaryData: map[string][]byte{"blob": make([]byte, 1<<20)}}
	if _, err = inventory.Encode(inv); !errors.As(err, &large) {
		t.Errorf("what others put there does not count: %v", err)
	}
	const fix = "because other clients added data to it: remove binaryData.blob from ConfigMap shop/lynqnode-acme-web, and run again"
	if !strings.HasSuffix(err.Error(), fix) {
		t.Errorf("got %v", err)
	}
}
