"""Parts that all other packages use: errors, validation, the kernel decorator, random numbers, types, files."""
