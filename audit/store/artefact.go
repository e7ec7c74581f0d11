package store

import "context"

func (s *Store) copyArtefacts(ctx context.Context, from *Store) error { return nil }
