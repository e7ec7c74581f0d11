package cuda

import "optcheck/runner"

// Codes of cuda.h for GPUs that work together.
const (
	codePeerEnabled     = 704
	attrPeerAtomics     = 3 // CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
	eventWithoutTime    = 2 // CU_EVENT_DISABLE_TIMING
	errPeer, errAtomics = "%s cannot access the memory of %s", "%s has no atomic operations on the memory of %s"
)

// join lets each GPU access the memory of the others: plain allocations, no managed
// memory, no multicast.
func (s *session) join() error {
	if len(s.gpus) == 1 {
		return nil
	}
	for i, g := range s.gpus {
		if err := s.on(i); err != nil {
			return err
		}
		if err := s.d.fail("create event", s.d.eventCreate(&g.event, eventWithoutTime)); err != nil {
			return err
		}
		for _, peer := range s.gpus {
			if peer == g {
				continue
			}
			if err := s.peer(g, peer); err != nil {
				return err
			}
		}
	}
	return nil
}

// peer lets the current GPU access the memory of another one.
func (s *session) peer(g, peer *card) error {
	var can, atomics int32
	if err := s.d.fail("peer access", s.d.canAccessPeer(&can, g.handle, peer.handle)); err != nil {
		return err
	}
	if can == 0 {
		return runner.Errorf(runner.ErrUnsupported, "peer access", errPeer, g.device.Name+" "+g.device.PCI,
			peer.device.Name+" "+peer.device.PCI)
	}
	// The kernels meet by counting in each other's memory.
	if s.d.getP2PAttribute(&atomics, attrPeerAtomics, g.handle, peer.handle) != 0 || atomics == 0 {
		return runner.Errorf(runner.ErrUnsupported, "peer access", errAtomics, g.device.Name+" "+g.device.PCI,
			peer.device.Name+" "+peer.device.PCI)
	}
	if code := s.d.enablePeerAccess(peer.context, 0); code != codePeerEnabled {
		return s.d.fail("peer access", code)
	}
	return nil
}

// mark notes how far a GPU has come.
func (s *session) mark(i int) error {
	if len(s.gpus) == 1 {
		return nil
	}
	if err := s.on(i); err != nil {
		return err
	}
	return s.d.fail("record event", s.d.eventRecord(s.gpus[i].event, stream))
}

// wait lets a GPU wait for another one.
func (s *session) wait(i, other int) error {
	if err := s.on(i); err != nil {
		return err
	}
	return s.d.fail("wait for event", s.d.streamWaitEvent(stream, s.gpus[other].event, 0))
}

// each calls do with each GPU current, until one fails.
func (s *session) each(do func(i int) error) error {
	for i := range s.gpus {
		if err := s.on(i); err != nil {
			return err
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}
