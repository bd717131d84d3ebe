"""Pure rules of facts: no Django, no clock, no input or output."""
