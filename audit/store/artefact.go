package store

import "context"

// copyArtefacts takes in the artefacts of another store.
func (s *Store) copyArtefacts(ctx context.Context, from *Store) error { return s.copyLabels(ctx, from) }
