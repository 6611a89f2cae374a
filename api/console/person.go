package console

import (
	"context"

	"github.com/taskloom/taskloom/internal/store"
)

// Person names somebody of the organization, also one who has left it.
type Person struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

func newPerson(p store.Person) Person { return Person(p) }

// names are people by their ids.
type names map[int64]Person

// names looks up everybody whom an answer names, in one query; ids of
// strangers are left out.
func (a *api) names(ctx context.Context, orgID int64, ids []int64) (names, error) {
	found, err := a.Store.PeopleByID(ctx, orgID, ids)
	if err != nil {
		return nil, err
	}
	out := names{}
	for _, p := range found {
		out[p.ID] = newPerson(p)
	}
	return out, nil
}

// maybe returns the person, nil for no id and for an unknown one.
func (n names) maybe(id *int64) *Person {
	if id == nil {
		return nil
	}
	p, ok := n[*id]
	if !ok {
		return nil
	}
	return &p
}
