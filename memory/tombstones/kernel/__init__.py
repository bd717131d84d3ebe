"""What a scope covers, and what a life of events amounts to at a point: functions of values alone."""
