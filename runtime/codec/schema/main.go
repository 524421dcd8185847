// Writes the schema by which davit reads Kubernetes' own kinds as protobuf: of each kind that has a list, its fields' numbers,
// their JSON names and what encoding/json does with a zero value. Read from the tags of the Go types, which are what the API server
// itself encodes by. Usage: go run . > ../kubernetesschema.inc
// Its form is described in ../kubernetesschema.h. With the argument "samples": objects of all kinds, for the tests
// (go run . samples > ../../../tests/data/protobuf/samples).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gvks "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// Types that write their JSON themselves, and the word that the schema has for them.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microtime",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[metav1.FieldsV1]():      "rawjson",
	reflect.TypeFor[runtime.RawExtension](): "rawjson",
}

var marshaler = reflect.TypeFor[json.Marshaler]()

type protoMessage interface{ Marshal() ([]byte, error) }

type tables struct {
	names map[reflect.Type]string // of messages that are known to be readable
	lines map[string][]string
}

type field struct {
	number int
	line   string
}

// The word for one value, and the message it holds.
func (s *tables) value(t reflect.Type) (string, error) {
	if word, ok := special[t]; ok {
		return word, nil
	}
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return "", fmt.Errorf("%v writes its JSON itself", t)
	}
	switch t.Kind() {
	case reflect.String:
		return "string", nil
	case reflect.Bool:
		return "bool", nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "int", nil
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "uint", nil
	case reflect.Float64:
		return "double", nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes", nil
		}
		// A named list is a message with one repeated member.
		if reflect.PointerTo(t).Implements(reflect.TypeFor[protoMessage]()) && t.Elem().Kind() == reflect.String {
			return "strings", nil
		}
	case reflect.Struct:
		name, err := s.message(t)
		return "message " + name, err
	}
	return "", fmt.Errorf("%v has no form here", t)
}

// Which of its forms a field takes: how often, and what of a zero value is written.
func (s *tables) field(f reflect.StructField, name string, options []string) (string, error) {
	t, flags := f.Type, ""
	has := func(option string) bool {
		for _, o := range options {
			if o == option {
				return true
			}
		}
		return false
	}
	if has("string") {
		return "", fmt.Errorf("its JSON is quoted")
	}
	omitEmpty := has("omitempty")
	word, err := "", error(nil)
	_, isSpecial := special[t]
	switch {
	case t.Kind() == reflect.Pointer:
		if word, err = s.value(t.Elem()); !omitEmpty {
			flags = " null"
		}
	case t.Kind() == reflect.Map:
		if t.Key().Kind() != reflect.String {
			return "", fmt.Errorf("a map of %v", t.Key())
		}
		element := t.Elem()
		if element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		word, err = s.value(element)
		word = "map " + word
		if !omitEmpty {
			flags = " null"
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !reflect.PointerTo(t).Implements(reflect.TypeFor[protoMessage]()):
		element := t.Elem()
		if element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		word, err = s.value(element)
		word = "list " + word
		if !omitEmpty {
			flags = " null"
		}
	default:
		word, err = s.value(t)
		isStruct := t.Kind() == reflect.Struct
		switch {
		case has("omitzero") && word != "time":
			return "", fmt.Errorf("omitzero of %v", t)
		case has("omitzero"), omitEmpty && !isStruct:
			flags = " omitempty"
		case isSpecial && (word == "time" || word == "microtime" || word == "rawjson"), word == "bytes", word == "strings":
			flags = " null"
		default:
			flags = " zero"
		}
	}
	return fmt.Sprintf("%s %s%s", name, word, flags), err
}

func (s *tables) message(t reflect.Type) (string, error) {
	if name, ok := s.names[t]; ok {
		return name, nil
	}
	path := strings.Split(t.PkgPath(), "/")
	name := strings.Join(path[len(path)-2:], "/") + "." + t.Name()
	s.names[t] = name
	lines, err := s.fields(t)
	if err != nil {
		delete(s.names, t)
		return "", err
	}
	if _, ok := s.lines[name]; ok {
		return "", fmt.Errorf("two types are named %s", name)
	}
	s.lines[name] = lines
	return name, nil
}

func (s *tables) fields(t reflect.Type) ([]string, error) {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue // travels in the envelope
		}
		protobuf, json := f.Tag.Get("protobuf"), strings.Split(f.Tag.Get("json"), ",")
		if json[0] == "-" && (protobuf == "" || protobuf == "-") {
			continue
		}
		tag := strings.Split(protobuf, ",")
		if len(tag) < 2 {
			return nil, fmt.Errorf("%v.%s has no protobuf tag", t, f.Name)
		}
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			return nil, err
		}
		var line string
		if f.Anonymous && json[0] == "" {
			if f.Type.Kind() != reflect.Struct {
				return nil, fmt.Errorf("%v.%s is no struct", t, f.Name)
			}
			var inner string
			if inner, err = s.message(f.Type); err == nil {
				line = "- inline " + inner
			}
		} else {
			line, err = s.field(f, json[0], json[1:])
		}
		if err != nil {
			return nil, fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		fields = append(fields, field{number, line})
	}
	sort.Slice(fields, func(i, j int) bool { return fields[i].number < fields[j].number })
	var lines []string
	for _, f := range fields {
		lines = append(lines, fmt.Sprintf("%d %s", f.number, f.line))
	}
	return lines, nil
}

// Whether a list of the kind is a list as all of them are: metadata 1, items 2.
func isList(list, item reflect.Type) bool {
	meta, hasMeta := list.FieldByName("ListMeta")
	items, hasItems := list.FieldByName("Items")
	return hasMeta && hasItems && items.Type.Kind() == reflect.Slice && items.Type.Elem() == item &&
		strings.HasPrefix(meta.Tag.Get("protobuf"), "bytes,1,") && strings.HasPrefix(items.Tag.Get("protobuf"), "bytes,2,")
}

func main() {
	s := &tables{map[reflect.Type]string{}, map[string][]string{}}
	known := scheme.Scheme.AllKnownTypes()
	var kinds []string
	types := map[gvks.GroupVersionKind]reflect.Type{}
	for gvk, t := range known {
		list, hasList := known[gvk.GroupVersion().WithKind(gvk.Kind+"List")]
		if gvk.Version == runtime.APIVersionInternal || !hasList || !isList(list, t) {
			continue
		}
		name, err := s.message(t)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s %s stays JSON: %v\n", gvk.GroupVersion(), gvk.Kind, err)
			continue
		}
		kinds = append(kinds, fmt.Sprintf("kind %s %s %s", gvk.GroupVersion(), gvk.Kind, name))
		types[gvk] = t
	}
	if len(os.Args) == 2 && os.Args[1] == "samples" {
		if err := writeSamples(os.Stdout, types); err != nil {
			panic(err)
		}
		return
	}
	status, err := s.message(reflect.TypeFor[metav1.Status]())
	if err != nil {
		panic(err)
	}
	kinds = append(kinds, "kind v1 Status "+status)
	sort.Strings(kinds)

	out := bufio.NewWriter(os.Stdout)
	defer func() { out.Flush() }()
	version := "?"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/api" {
				version = module.Version
			}
		}
	}
	// A raw string of C++, to be included.
	fmt.Fprintf(out, "R\"schema(# Of k8s.io/api %s; made by schema/main.go, not by hand.\n", version)
	defer fmt.Fprintln(out, ")schema\"")
	// What cannot be reached from a kind was met on the way to one that stays JSON.
	wanted := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if wanted[name] {
			return
		}
		wanted[name] = true
		for _, line := range s.lines[name] {
			words := strings.Fields(line)
			for i, word := range words {
				if word == "message" || word == "inline" {
					visit(words[i+1])
				}
			}
		}
	}
	for _, kind := range kinds {
		fmt.Fprintln(out, kind)
		visit(strings.Fields(kind)[3])
	}
	names := make([]string, 0, len(wanted))
	for name := range wanted {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintln(out, "message "+name)
		for _, line := range s.lines[name] {
			fmt.Fprintln(out, line)
		}
	}
}
