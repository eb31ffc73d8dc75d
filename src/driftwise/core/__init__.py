"""What everything else stands on: errors, validation, the kernel decorator, random numbers, types."""
