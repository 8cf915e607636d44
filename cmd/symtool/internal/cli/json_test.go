package cli

import "testing"

// A list that is made as it is printed prints as a slice does, and is left out if it is empty.
func TestJSONList(t *testing.T) {
	type element struct {
		Name string `json:"name"`
		Size int    `json:"size,omitempty"`
	}
	elements := []element{{"a\u202e<b>", 1}, {"", 0}}
	for n := range 3 {
		want, err := EncodeJSON(struct {
			List []element `json:"list,omitempty"`
			Last int       `json:"last"`
		}{elements[:n], n})
		if err != nil {
			t.Fatal(err)
		}
		got, err := EncodeJSON(struct {
			List *JSONList[element] `json:"list,omitempty"`
			Last int                `json:"last"`
		}{NewJSONList(n, func(i int) element { return elements[i] }), n})
		if err != nil || string(got) != string(want) {
			t.Errorf("%d elements, error %v:\n%swant\n%s", n, err, got, want)
		}
	}
}
