package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// jsonPatch changes an object by a JSON patch (RFC 6902). It supports test, add, remove and
// replace.
func jsonPatch(o map[string]any, patch []byte) error {
	var ops []any
	if err := utiljson.Unmarshal(patch, &ops); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	for _, op := range ops {
		fields, _ := op.(map[string]any)
		what, _ := fields["op"].(string)
		path, _ := fields["path"].(string)
		steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
		for i := range steps {
			steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
		}
		if _, err := change(o, steps, what, fields["value"]); err != nil {
			return &apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
				Message: "the server rejected our request due to an error in our request: " + what + " " + path + ": " + err.Error(),
			}}
		}
	}
	return nil
}

// change returns a value after an operation at a path in it.
func change(in any, path []string, op string, value any) (any, error) {
	switch parent := in.(type) {
	case map[string]any:
		child, is := parent[path[0]]
		if len(path) > 1 {
			if !is {
				return nil, fmt.Errorf("there is no %s", path[0])
			}
			next, err := change(child, path[1:], op, value)
			if err == nil {
				parent[path[0]] = next
			}
			return parent, err
		}
		switch {
		case op == "add":
			parent[path[0]] = value
		case !is:
			return nil, fmt.Errorf("there is no %s", path[0])
		case op == "test" && !reflect.DeepEqual(child, value):
			return nil, errors.New("it is another value")
		case op == "remove":
			delete(parent, path[0])
		case op == "replace":
			parent[path[0]] = value
		}
		return parent, nil
	case []any:
		return changeList(parent, path, op, value)
	}
	return nil, fmt.Errorf("there is no %s", path[0])
}

func changeList(list []any, path []string, op string, value any) (any, error) {
	at, err := strconv.Atoi(path[0])
	switch {
	case path[0] == "-" && op == "add":
		return append(list, value), nil
	case err != nil || at < 0 || at > len(list) || at == len(list) && op != "add":
		return nil, fmt.Errorf("there is no item %s", path[0])
	case len(path) > 1:
		list[at], err = change(list[at], path[1:], op, value)
		return list, err
	}
	switch op {
	case "add":
		return slices.Insert(list, at, value), nil
	case "remove":
		return slices.Delete(list, at, at+1), nil
	case "replace":
		list[at] = value
	default:
		if !reflect.DeepEqual(list[at], value) {
			return nil, errors.New("it is another value")
		}
	}
	return list, nil
}
