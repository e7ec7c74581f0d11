package runner

// Order keeps the commands of a session's devices in order: a command waits for all
// that stand before it on other devices, but a launch beside another one for those
// only that this waits for.
type Order struct {
	// Mark notes how far a device has come, and Wait lets a device wait until another
	// one has come there.
	Mark func(device int) error
	Wait func(device, other int) error

	now, before uint // devices with commands of this step, and of the one before it
	waited      uint // devices of this step that wait for those
}

// Next is called in front of each command.
func (o *Order) Next(device int, beside bool) error {
	if !beside {
		for d := range MaxDevices {
			if o.now&(1<<d) != 0 {
				if err := o.Mark(d); err != nil {
					return err
				}
			}
		}
		o.before, o.now, o.waited = o.now, 0, 0
	}
	o.now |= 1 << device
	if o.waited&(1<<device) != 0 {
		return nil
	}
	o.waited |= 1 << device
	for d := range MaxDevices {
		if d != device && o.before&(1<<d) != 0 {
			if err := o.Wait(device, d); err != nil {
				return err
			}
		}
	}
	return nil
}
