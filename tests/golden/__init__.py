"""Golden scenarios: what each protocol does, step by step, as text that a person can read."""
