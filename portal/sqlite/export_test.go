package sqlite

// Faulty is a store whose transactions can be made to fail at each of their steps.
type Faulty struct{ *Store }

// Fault makes the store call step, or nothing, at each step of a transaction that can fail.
func (f Faulty) Fault(step func(step string) error) {
	f.step = func(name string) error {
		if name == "committed" || step == nil {
			return nil
		}
		return step(name)
	}
}
