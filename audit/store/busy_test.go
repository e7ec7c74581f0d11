package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"optcheck/internal/patient"
)

// TestSlowReader: who makes a store waits for somebody who looks at the file, for
// longer than the database itself does.
func TestSlowReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.store")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	look, err := db.Conn(t.Context())
	require.NoError(t, err)
	_, err = look.ExecContext(t.Context(), "BEGIN; SELECT * FROM sqlite_schema")
	require.NoError(t, err)
	made := make(chan error, 1)
	go func() {
		s, err := Open(t.Context(), path, Create)
		if err == nil {
			err = s.Close()
		}
		made <- err
	}()
	select {
	case err := <-made:
		require.NoError(t, err)
		t.Fatal("the reader was in nobody's way")
	case <-time.After(3 * time.Second):
	}
	_, err = look.ExecContext(t.Context(), "COMMIT")
	require.NoError(t, err)
	select {
	case err := <-made:
		require.NoError(t, err)
	case <-time.After(patient.Long):
		t.Fatal("the store is not made")
	}
}

// TestMadeByAll: stores that many open at the very moment at which it is made are
// one store for all of them.
func TestMadeByAll(t *testing.T) {
	for i := range 60 {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.store", i))
		var all errgroup.Group
		for range 6 {
			all.Go(func() error {
				s, err := Open(t.Context(), path, Create)
				if err != nil {
					return err
				}
				return s.Close()
			})
		}
		require.NoError(t, all.Wait())
	}
}
