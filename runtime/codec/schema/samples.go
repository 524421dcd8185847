package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

func fills(random *rand.Rand) []any {
	second := func() time.Time { return time.Unix(random.Int63n(4e9)-1e9, 0).UTC() }
	return []any{
		func(s *string, c randfill.Continue) {
			*s = []string{"", "a", "name-7d4b9c6f5d-x2x9z", "größer \"quoted\"\n", fmt.Sprint(c.Intn(1e6))}[c.Intn(5)]
		},
		func(t *metav1.Time, c randfill.Continue) {
			if c.Intn(4) > 0 {
				*t = metav1.NewTime(second())
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			if c.Intn(4) > 0 {
				*t = metav1.NewMicroTime(second().Add(time.Duration(c.Intn(1e6)) * time.Microsecond))
			}
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse([]string{"0", "100m", "128974848", "1.5Gi", "12e6", "-3"}[c.Intn(6)])
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = []intstr.IntOrString{{}, intstr.FromInt32(-7), intstr.FromString("25%"), intstr.FromString("")}[c.Intn(4)]
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawString(`{"f:metadata":{"f:labels":{".":{}}}}`) },
		func(r *runtime.RawExtension, c randfill.Continue) {
			r.Raw = [][]byte{nil, []byte(`{"kind":"Any","list":[1,-2.5,"x",null,{}]}`), []byte(`"text"`), []byte(`[]`)}[c.Intn(4)]
		},
		func(i *int32, c randfill.Continue) { *i = []int32{0, 1, -1, 30, 1<<31 - 1}[c.Intn(5)] },
		func(i *int64, c randfill.Continue) { *i = []int64{0, 1, -1, 1 << 40, 1<<63 - 1}[c.Intn(5)] },
		func(f *float64, c randfill.Continue) { *f = []float64{0, 1, -2.5, 1e21, 1e-9}[c.Intn(5)] },
		func(b *[]byte, c randfill.Continue) {
			*b = [][]byte{nil, {}, {0, 255, 1}, []byte("bytes")}[c.Intn(4)]
		},
	}
}

// Of each kind an object with values in all its fields and one with few, in protobuf and as the JSON that an API server makes of
// that protobuf: per sample its apiVersion, kind, protobuf message and JSON, each after its length (32 bits, big-endian); all of it
// as qUncompress() takes it.
func writeSamples(out io.Writer, kinds map[schema.GroupVersionKind]reflect.Type) error {
	var plain bytes.Buffer
	put := func(part []byte) {
		binary.Write(&plain, binary.BigEndian, uint32(len(part)))
		plain.Write(part)
	}
	order := make([]schema.GroupVersionKind, 0, len(kinds))
	for gvk := range kinds {
		order = append(order, gvk)
	}
	sort.Slice(order, func(i, j int) bool { return order[i].String() < order[j].String() })
	for i, gvk := range order {
		for variant, nilChance := range []float64{0.02, 0.7} {
			random := rand.New(rand.NewSource(int64(2*i + variant)))
			filler := randfill.New().RandSource(random).NilChance(nilChance).NumElements(1, 2).MaxDepth(14).Funcs(fills(random)...)
			object, err := scheme.Scheme.New(gvk)
			if err != nil {
				return err
			}
			filler.Fill(object)
			wire, err := object.(protoMessage).Marshal()
			if err != nil {
				return fmt.Errorf("%v: %w", gvk, err)
			}
			read, _ := scheme.Scheme.New(gvk)
			if err = read.(interface{ Unmarshal([]byte) error }).Unmarshal(wire); err != nil {
				return err
			}
			read.GetObjectKind().SetGroupVersionKind(gvk)
			text, err := json.Marshal(read)
			if err != nil {
				return fmt.Errorf("%v: %w", gvk, err)
			}
			put([]byte(gvk.GroupVersion().String()))
			put([]byte(gvk.Kind))
			put(wire)
			put(text)
		}
	}
	binary.Write(out, binary.BigEndian, uint32(plain.Len()))
	packed, _ := zlib.NewWriterLevel(out, zlib.BestCompression)
	defer packed.Close()
	_, err := packed.Write(plain.Bytes())
	return err
}
