"""The pages of calibration: one verdict line for each segment, what stands behind one, and what people do on alarms."""
